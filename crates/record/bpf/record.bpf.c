// SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
//
// What reaches block devices, and who caused it: of a process tree every page that it dirties and every block request that it
// submits, with user registers and the top of the user stack, and every write whoever submits it. Stacks are unwound, and writes
// given to those who dirtied their pages, in user space (src/linux/device). build.sh makes record.bpf.o of it.
//
// Kernel structures are declared with the fields that are needed only; the loader finds their places in the BTF of the kernel that
// runs (CO-RE).

#include <linux/types.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

// The licence that the kernel must be told of helpers for GPL programs.
char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define BPF_MAP_TYPE_HASH_ 1
#define BPF_MAP_TYPE_ARRAY_ 2
#define BPF_MAP_TYPE_LRU_HASH_ 9
#define BPF_MAP_TYPE_RINGBUF_ 27

#define CORE __attribute__((preserve_access_index))

struct hlist_node {
	struct hlist_node *next;
} CORE;
struct hlist_head {
	struct hlist_node *first;
} CORE;
struct qstr {
	const unsigned char *name;
} CORE;
struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
	union {
		struct hlist_node d_alias;
	} d_u;
} CORE;
struct block_device {
	__u32 bd_dev;
} CORE;
struct super_block {
	__u32 s_dev;
	struct block_device *s_bdev;
} CORE;
struct inode {
	struct super_block *i_sb;
	struct address_space *i_mapping;
	unsigned long i_ino;
	__u32 i_rdev;
	__u32 i_generation;
	struct hlist_head i_dentry;
} CORE;
struct address_space {
	struct inode *host;
} CORE;
struct folio {
	struct address_space *mapping;
	unsigned long index;
	unsigned long _flags_1;
} CORE;
struct folio___old {
	unsigned char _folio_order;
} CORE;
struct page {
	unsigned long compound_head;
} CORE;
enum pageflags {
	PG_head = 1,
};
struct bio_vec {
	struct page *bv_page;
	unsigned int bv_offset;
} CORE;
struct bvec_iter {
	__u64 bi_sector;
	unsigned int bi_size;
} CORE;
struct bio {
	struct block_device *bi_bdev;
	unsigned int bi_opf;
	struct bvec_iter bi_iter;
	void *bi_private;
	struct bio_vec *bi_io_vec;
} CORE;
struct file {
	struct inode *f_inode;
} CORE;
struct kiocb {
	struct file *ki_filp;
	__s64 ki_pos;
} CORE;
struct iomap_dio {
	struct kiocb *iocb;
} CORE;
struct signal_struct {
	struct {
		int counter;
	} live;
} CORE;
struct task_struct {
	int tgid;
	struct signal_struct *signal;
} CORE;
struct pt_regs {
	unsigned long bp;
	unsigned long ip;
	unsigned long sp;
} CORE;

struct raw_tp_args {
	__u64 args[0];
};

#define STACK_BYTES 4096
#define STACK_PART 512
#define NAME_PARTS 16
#define NAME_BYTES 64

enum { EVENT_DIRTY = 1, EVENT_BIO = 2, EVENT_NAME = 3 };

// Every event begins like this; src/linux/device/event.rs reads it.
struct event {
	__u32 kind;
	__u32 process;
	__u64 at;
	// Of the file system of the file; its inode.
	__u32 device;
	__u32 generation;
	__u64 inode;
	// Page of the file in which it begins, or the byte for a direct request.
	__u64 place;
	// Pages that became dirty, or bytes of a request.
	__u64 length;
	// First sector of a request.
	__u64 sector;
	// Of the request: device, operation and flags.
	__u32 target;
	__u32 operation;
	// What tells one direct access from the next; 0 if it is none.
	__u64 direct;
	__u64 ip, sp, bp;
	// Bytes of the stack, or parts of the name, that follow.
	__u64 follows;
};
struct event_with_stack {
	struct event event;
	__u8 stack[STACK_BYTES];
};
// The names of the file and of the folders above it, up to the root of the file system.
struct event_with_name {
	struct event event;
	char parts[NAME_PARTS][NAME_BYTES];
};
struct file_key {
	__u32 device, generation;
	__u64 inode;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF_);
	__uint(max_entries, 64 << 20);
} events SEC(".maps");

// Processes of the tree.
struct {
	__uint(type, BPF_MAP_TYPE_HASH_);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u32);
} processes SEC(".maps");

// Files whose names were told.
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH_);
	__uint(max_entries, 65536);
	__type(key, struct file_key);
	__type(value, __u32);
} named SEC(".maps");

// 0: events that found no room.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} lost SEC(".maps");

static void count_loss(void)
{
	__u32 key = 0;
	__u64 *n = bpf_map_lookup_elem(&lost, &key);
	if (n)
		__sync_fetch_and_add(n, 1);
}

static bool is_followed(__u32 process)
{
	return bpf_map_lookup_elem(&processes, &process) != 0;
}

// The folio of a page: pages after the first of a large folio point to it, with the lowest bit set.
static struct folio *folio_of(struct page *page)
{
	unsigned long head = BPF_CORE_READ(page, compound_head);
	return (struct folio *)(head & 1 ? head - 1 : (unsigned long)page);
}

static unsigned long pages_of(struct folio *folio)
{
	unsigned long flags = 0;
	unsigned char order = 0;
	// Flags have always been the first word; their type has not always been the same.
	bpf_probe_read_kernel(&flags, sizeof(flags), folio);
	if (!(flags & (1UL << bpf_core_enum_value(enum pageflags, PG_head))))
		return 1;
	struct folio___old *old = (void *)folio;
	if (bpf_core_field_exists(old->_folio_order))
		order = BPF_CORE_READ(old, _folio_order);
	else
		order = BPF_CORE_READ(folio, _flags_1) & 0xff;
	return 1UL << (order & 31);
}

static void fill_file(struct event *event, struct inode *inode)
{
	event->device = BPF_CORE_READ(inode, i_sb, s_dev);
	event->generation = BPF_CORE_READ(inode, i_generation);
	event->inode = BPF_CORE_READ(inode, i_ino);
}

// Tells the name of a file when it is met first.
static void tell_name(struct inode *inode, __u64 at)
{
	struct event_with_name *told;
	struct file_key key = {};
	__u32 one = 1;

	key.device = BPF_CORE_READ(inode, i_sb, s_dev);
	key.generation = BPF_CORE_READ(inode, i_generation);
	key.inode = BPF_CORE_READ(inode, i_ino);
	if (bpf_map_lookup_elem(&named, &key))
		return;
	struct hlist_node *alias = BPF_CORE_READ(inode, i_dentry.first);
	if (!alias)
		return;
	told = bpf_ringbuf_reserve(&events, sizeof(*told), 0);
	if (!told)
		return count_loss();
	__builtin_memset(&told->event, 0, sizeof(told->event));
	told->event.kind = EVENT_NAME;
	told->event.at = at;
	fill_file(&told->event, inode);
	struct dentry *at_dentry = (void *)alias - bpf_core_field_offset(struct dentry, d_u.d_alias);
	__u64 parts = 0;
	for (int i = 0; i < NAME_PARTS; i++) {
		struct dentry *parent = BPF_CORE_READ(at_dentry, d_parent);
		if (!parent || parent == at_dentry)
			break;
		told->parts[i][0] = 0;
		bpf_probe_read_kernel_str(told->parts[i], NAME_BYTES, BPF_CORE_READ(at_dentry, d_name.name));
		parts = i + 1;
		at_dentry = parent;
	}
	told->event.follows = parts;
	bpf_ringbuf_submit(told, 0);
	bpf_map_update_elem(&named, &key, &one, 0);
}

// User registers, as they were when the kernel was entered, and the stack above the stack pointer.
static void fill_stack(struct event_with_stack *with)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct pt_regs *regs = (void *)bpf_task_pt_regs((void *)task);
	with->event.ip = BPF_CORE_READ(regs, ip);
	with->event.sp = BPF_CORE_READ(regs, sp);
	with->event.bp = BPF_CORE_READ(regs, bp);
	__u64 copied = 0;
	for (int i = 0; i < STACK_BYTES / STACK_PART; i++) {
		if (bpf_probe_read_user(with->stack + i * STACK_PART, STACK_PART, (void *)(with->event.sp + i * STACK_PART)))
			break;
		copied = (i + 1) * STACK_PART;
	}
	with->event.follows = copied;
}

SEC("raw_tp/writeback_dirty_folio")
int dirty_folio(struct raw_tp_args *ctx)
{
	struct folio *folio = (struct folio *)ctx->args[0];
	struct address_space *mapping = (struct address_space *)ctx->args[1];
	__u32 process = bpf_get_current_pid_tgid() >> 32;
	if (!mapping || !is_followed(process))
		return 0;
	struct inode *inode = BPF_CORE_READ(mapping, host);
	__u64 at = bpf_ktime_get_ns();
	tell_name(inode, at);
	struct event_with_stack *with = bpf_ringbuf_reserve(&events, sizeof(*with), 0);
	if (!with) {
		count_loss();
		return 0;
	}
	__builtin_memset(&with->event, 0, sizeof(with->event));
	with->event.kind = EVENT_DIRTY;
	with->event.process = process;
	with->event.at = at;
	fill_file(&with->event, inode);
	with->event.place = BPF_CORE_READ(folio, index);
	with->event.length = pages_of(folio);
	fill_stack(with);
	bpf_ringbuf_submit(with, 0);
	return 0;
}

// Which file a request is of. The data of buffered requests are pages of the file; those of direct ones are pages of the program,
// and the request knows the access that it is part of.
static struct inode *file_of(struct bio *bio, struct block_device *device, struct event *event)
{
	struct bio_vec *vector = BPF_CORE_READ(bio, bi_io_vec);
	struct page *page = BPF_CORE_READ(vector, bv_page);
	struct folio *folio = folio_of(page);
	unsigned long mapping = (unsigned long)BPF_CORE_READ(folio, mapping);
	if (mapping && !(mapping & 3)) {
		struct inode *inode = BPF_CORE_READ((struct address_space *)mapping, host);
		bool is_file = BPF_CORE_READ(inode, i_sb, s_bdev) == device;
		bool is_device = BPF_CORE_READ(inode, i_rdev) == BPF_CORE_READ(device, bd_dev);
		if (is_file || is_device) {
			// A page of the memory map has the size of the kernel's structure, and a large folio is a row of them.
			unsigned long within = ((unsigned long)page - (unsigned long)folio) / bpf_core_type_size(struct page);
			event->place = BPF_CORE_READ(folio, index) + within + (BPF_CORE_READ(vector, bv_offset) >> 12);
			return inode;
		}
	}
	// What this points to is believed if it leads to an open file on this very device.
	struct iomap_dio *dio = (struct iomap_dio *)BPF_CORE_READ(bio, bi_private);
	struct kiocb *call = BPF_CORE_READ(dio, iocb);
	struct inode *inode = BPF_CORE_READ(call, ki_filp, f_inode);
	if (!inode || BPF_CORE_READ(inode, i_sb, s_bdev) != device || BPF_CORE_READ(inode, i_mapping, host) != inode)
		return 0;
	event->place = BPF_CORE_READ(call, ki_pos);
	event->direct = (unsigned long)dio;
	return inode;
}

SEC("raw_tp/block_bio_queue")
int bio_queue(struct raw_tp_args *ctx)
{
	struct bio *bio = (struct bio *)ctx->args[0];
	__u32 process = bpf_get_current_pid_tgid() >> 32;
	bool followed = is_followed(process);
	__u32 operation = BPF_CORE_READ(bio, bi_opf);
	// A write may be of pages that the tree made dirty; a read of somebody else is none of ours.
	if (!followed && !(operation & 1))
		return 0;
	struct block_device *device = BPF_CORE_READ(bio, bi_bdev);
	struct event event = {};
	event.kind = EVENT_BIO;
	event.process = followed ? process : 0;
	event.at = bpf_ktime_get_ns();
	event.length = BPF_CORE_READ(bio, bi_iter.bi_size);
	event.sector = BPF_CORE_READ(bio, bi_iter.bi_sector);
	event.target = BPF_CORE_READ(device, bd_dev);
	event.operation = operation;
	// Only reads and writes have data.
	struct inode *inode = 0;
	if (event.length && (operation & 0xff) < 2)
		inode = file_of(bio, device, &event);
	if (inode) {
		if (followed)
			tell_name(inode, event.at);
		fill_file(&event, inode);
	}
	if (!followed) {
		struct event *alone = bpf_ringbuf_reserve(&events, sizeof(*alone), 0);
		if (!alone) {
			count_loss();
			return 0;
		}
		*alone = event;
		bpf_ringbuf_submit(alone, 0);
		return 0;
	}
	struct event_with_stack *with = bpf_ringbuf_reserve(&events, sizeof(*with), 0);
	if (!with) {
		count_loss();
		return 0;
	}
	with->event = event;
	fill_stack(with);
	bpf_ringbuf_submit(with, 0);
	return 0;
}

SEC("raw_tp/sched_process_fork")
int process_fork(struct raw_tp_args *ctx)
{
	struct task_struct *parent = (struct task_struct *)ctx->args[0];
	struct task_struct *child = (struct task_struct *)ctx->args[1];
	__u32 from = BPF_CORE_READ(parent, tgid), process = BPF_CORE_READ(child, tgid), one = 1;
	if (from != process && is_followed(from))
		bpf_map_update_elem(&processes, &process, &one, 0);
	return 0;
}

SEC("raw_tp/sched_process_exit")
int process_exit(struct raw_tp_args *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx->args[0];
	__u32 process = BPF_CORE_READ(task, tgid);
	// Its last thread.
	if (BPF_CORE_READ(task, signal, live.counter) == 0)
		bpf_map_delete_elem(&processes, &process);
	return 0;
}
