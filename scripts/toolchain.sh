# Sourced by ./nandlab and ./test: installs what a fresh machine lacks (a C compiler for the decompressors, Rust).

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

if ! command -v cc >/dev/null 2>&1; then
    echo "nandlab: no C compiler found, installing one" >&2
    if command -v apt-get >/dev/null 2>&1; then
        as_root apt-get update -qq && as_root apt-get install -y -qq gcc libc6-dev
    elif command -v dnf >/dev/null 2>&1; then
        as_root dnf install -y gcc
    elif command -v apk >/dev/null 2>&1; then
        as_root apk add gcc musl-dev
    else
        echo "nandlab: please install a C compiler (cc) and try again" >&2
        exit 1
    fi
fi

# Not twice, for a script that calls another: pyo3 is built again for another PATH.
case $PATH in
"$HOME/.cargo/bin:"*) ;;
*) [ -d "$HOME/.cargo/bin" ] && PATH="$HOME/.cargo/bin:$PATH" ;;
esac
if ! command -v cargo >/dev/null 2>&1; then
    echo "nandlab: no Rust found, installing it with rustup" >&2
    if command -v curl >/dev/null 2>&1; then fetch="curl --proto =https --tlsv1.2 -sSf"; else fetch="wget -qO-"; fi
    $fetch https://sh.rustup.rs | sh -s -- -y --profile minimal --component rustfmt --component clippy
    PATH="$HOME/.cargo/bin:$PATH"
fi
export PATH
