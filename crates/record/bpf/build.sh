#!/bin/sh
# Makes record.bpf.o, which is kept in the repository so that nobody needs clang to build nandlab. Debian: clang, llvm, libbpf-dev.
set -eu
cd "$(dirname -- "$0")"
clang -O2 -g -target bpf -mcpu=v3 -D__TARGET_ARCH_x86 -I"/usr/include/$(uname -m)-linux-gnu" -Wall -Werror \
    -ffile-prefix-map="$PWD"=. -fdebug-compilation-dir=. -c record.bpf.c -o record.bpf.o
llvm-strip -g record.bpf.o
