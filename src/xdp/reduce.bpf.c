// SPDX-License-Identifier: BSD-3-Clause
/* eBPF code at a network interface: receives the inputs of ranks to small collectives. When the last input has come, it
 * computes the result, within the interrupt that brought the input. See frame.h for the memory that it shares with the
 * ranks.
 *
 * A frame for no slot of these tables (by its layout, token and port) is passed on as if no eBPF code were attached. A
 * frame for a slot that is of no use (a second copy, or no cell is free yet) is dropped; a rank that needs it asks
 * again. Requests and questions are answered here. So ranks get the inputs of a rank that computes without a call, or
 * whose process has died. */
/* libbpf's headers need the kernel's before them. */
// clang-format off
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/udp.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
// clang-format on

#include "frame.h"
#include "urakata_ieee.h"
#include "urakata_op.bpf.h"

_Static_assert(URA_OP_BYTES == URA_XDP_BYTES, "a row is a row");

struct table {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, URA_XDP_SLOTS);
  __uint(key_size, sizeof(__u32));
  __uint(value_size, sizeof(struct ura_xdp_slot));
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
  __uint(max_entries, URA_XDP_USERS);
  __type(key, __u32);
  __array(values, struct table);
} users SEC(".maps");

struct headers {
  struct ethhdr ethernet;
  struct iphdr ip;
  struct udphdr udp;
  struct ura_xdp_header own;
} __attribute__((packed));

/* One step: combines rows `left` and `right`, element by element, into the row of the result. */
struct step {
  struct ura_xdp_cell* cell;
  __u32 left;
  __u32 right;
  __u32 form;
  __u32 failed; /* whether an operation of a program's own is not attached, or has failed */
};

/* The address of an element in a row; 0: it would lie outside of the row. */
static __always_inline void* element(struct step* s, __u32 row, __u32 i, __u32 size) {
  if (row >= URA_XDP_ROWS || i >= URA_XDP_BYTES / size) return 0;
  return &s->cell->rows[row][i * size];
}

#define STEP(name, type, value)                                       \
  static long name(__u32 i, struct step* s) {                         \
    const type* const left = element(s, s->left, i, sizeof(type));    \
    const type* const right = element(s, s->right, i, sizeof(type));  \
    type* const result = element(s, URA_XDP_RESULT, i, sizeof(type)); \
    if (!left || !right || !result) return 1;                         \
    const type a = *left, b = *right;                                 \
    *result = (type)(value);                                          \
    return 0;                                                         \
  }
#define INTEGERS(bits, t, u)        \
  STEP(sum_##bits, u, a + b)        \
  STEP(product_##bits, u, a* b)     \
  STEP(least_##t, t, b < a ? b : a) \
  STEP(most_##t, t, b > a ? b : a)  \
  STEP(least_##u, u, b < a ? b : a) \
  STEP(most_##u, u, b > a ? b : a)
typedef signed char s8;
typedef unsigned char u8;
typedef short s16;
typedef unsigned short u16;
typedef int s32;
typedef unsigned u32;
typedef long long s64;
typedef unsigned long long u64;
INTEGERS(8, s8, u8)
INTEGERS(16, s16, u16)
INTEGERS(32, s32, u32)
INTEGERS(64, s64, u64)
STEP(and_all, u64, a& b)
STEP(or_all, u64, a | b)
STEP(xor_all, u64, a ^ b)
#define FLOATS(bits, u)                                  \
  STEP(sum_f##bits, u, ura_add_f##bits(a, b))            \
  STEP(product_f##bits, u, ura_mul_f##bits(a, b))        \
  STEP(least_f##bits, u, ura_less_f##bits(b, a) ? b : a) \
  STEP(most_f##bits, u, ura_less_f##bits(a, b) ? b : a)
FLOATS(32, u32)
FLOATS(64, u64)

/* Placeholders, replaced by the functions of files that are linked to this one (urakata_op.bpf.h, linked_ops.hpp). */
#define NO_OP(number)                                   \
  __attribute__((weak)) URA_OP_FUNCTION(number) {       \
    (void)left, (void)right, (void)result, (void)bytes; \
    return 1;                                           \
  }
NO_OP(0)
NO_OP(1)
NO_OP(2)
NO_OP(3)
NO_OP(4)
NO_OP(5)
NO_OP(6)
NO_OP(7)

#define RUN_OP(number) \
  case number:         \
    return ura_op_##number(left, right, result, bytes);

/* Applies operation `number` of programs' own to rows `left` and `right`. Not 0: it is not attached, or has failed. */
static __always_inline long run_op(struct step* s, __u32 number, __u32 bytes) {
  if (s->left >= URA_XDP_ROWS || s->right >= URA_XDP_ROWS) return 1;
  const struct ura_op_row* const left = (const void*)s->cell->rows[s->left];
  const struct ura_op_row* const right = (const void*)s->cell->rows[s->right];
  struct ura_op_row* const result = (void*)s->cell->rows[URA_XDP_RESULT];
  switch (number) {
    RUN_OP(0)
    RUN_OP(1)
    RUN_OP(2)
    RUN_OP(3)
    RUN_OP(4)
    RUN_OP(5)
    RUN_OP(6)
    RUN_OP(7)
    default:
      return 1;
  }
}

#define PAIR(op, type) ((op) << 4 | (type))
#define RUN(op, type, name)      \
  case PAIR(op, type):           \
    bpf_loop(count, name, s, 0); \
    return 0;
#define RUN_INTEGERS(bits, s, u)                     \
  RUN(URA_XDP_SUM, URA_XDP_I##bits, sum_##bits)      \
  RUN(URA_XDP_SUM, URA_XDP_U##bits, sum_##bits)      \
  RUN(URA_XDP_PROD, URA_XDP_I##bits, product_##bits) \
  RUN(URA_XDP_PROD, URA_XDP_U##bits, product_##bits) \
  RUN(URA_XDP_MIN, URA_XDP_I##bits, least_s##bits)   \
  RUN(URA_XDP_MIN, URA_XDP_U##bits, least_u##bits)   \
  RUN(URA_XDP_MAX, URA_XDP_I##bits, most_s##bits)    \
  RUN(URA_XDP_MAX, URA_XDP_U##bits, most_u##bits)
#define RUN_FLOATS(bits)                              \
  RUN(URA_XDP_SUM, URA_XDP_F##bits, sum_f##bits)      \
  RUN(URA_XDP_PROD, URA_XDP_F##bits, product_f##bits) \
  RUN(URA_XDP_MIN, URA_XDP_F##bits, least_f##bits)    \
  RUN(URA_XDP_MAX, URA_XDP_F##bits, most_f##bits)

static __always_inline __u32 size_of(__u32 type) {
  if (type == URA_XDP_F32) return 4;
  if (type == URA_XDP_F64) return 8;
  return 1U << (type & 3);
}

/* Combines the result so far with the row of rank i + 1. */
static long join(__u32 i, struct step* s) {
  const __u32 bytes = URA_XDP_BYTES_OF(s->form), op = URA_XDP_OP(s->form), type = URA_XDP_TYPE(s->form);
  s->left = i == 0 ? 0 : URA_XDP_RESULT;
  s->right = i + 1;
  if (op >= URA_XDP_OWN) {
    s->failed = run_op(s, op - URA_XDP_OWN, bytes) != 0;
    return s->failed;
  }
  if (op >= URA_XDP_BAND) {
    const __u32 count = (bytes + 7) / 8;
    if (op == URA_XDP_BAND) bpf_loop(count, and_all, s, 0);
    if (op == URA_XDP_BOR) bpf_loop(count, or_all, s, 0);
    if (op == URA_XDP_BXOR) bpf_loop(count, xor_all, s, 0);
    return 0;
  }
  const __u32 count = bytes / size_of(type);
  switch (PAIR(op, type)) {
    RUN_INTEGERS(8, s, u)
    RUN_INTEGERS(16, s, u)
    RUN_INTEGERS(32, s, u)
    RUN_INTEGERS(64, s, u)
    RUN_FLOATS(32)
    RUN_FLOATS(64)
    default:
      return 1;
  }
}

/* Stops at a row that was filled for another form, and stores 1 in `right`. */
static long differs(__u32 i, struct step* s) {
  if (i >= URA_XDP_RANKS || s->cell->forms[i] == s->form) return 0;
  s->right = 1;
  return 1;
}

/* Ends the operation: all rows that this rank needs are full. */
static __always_inline void finish(struct ura_xdp_cell* cell, __u32 number, __u32 form, __u32 ranks) {
  struct step s = {.cell = cell, .left = 0, .right = 0, .form = form, .failed = 0};
  const __u32 operation = URA_XDP_OPERATION(form);
  int right = 1;
  if (operation != URA_XDP_BCAST) {
    bpf_loop(ranks, differs, &s, 0);
    right = !s.right;
  }
  if (right && (operation == URA_XDP_ALLREDUCE || operation == URA_XDP_REDUCE)) bpf_loop(ranks - 1, join, &s, 0);
  __sync_lock_test_and_set(&cell->done, URA_XDP_DONE(number, right && !s.failed)); /* after all of the result */
}

static __always_inline __u16 answer_to(__u16 kind) {
  if (kind == URA_XDP_REQUEST) return URA_XDP_DATA;
  return kind == URA_XDP_PING ? URA_XDP_PONG : URA_XDP_ANSWER;
}

/* Turns the frame into an answer of this kind, and sends it back to where it came from. */
static __always_inline int turn_back(struct headers* h, struct ura_xdp_slot* slot, __u16 kind) {
  __u8 address[ETH_ALEN];
  __builtin_memcpy(address, h->ethernet.h_dest, ETH_ALEN);
  __builtin_memcpy(h->ethernet.h_dest, h->ethernet.h_source, ETH_ALEN);
  __builtin_memcpy(h->ethernet.h_source, address, ETH_ALEN);
  const __u32 ip = h->ip.saddr;
  h->ip.saddr = h->ip.daddr;
  h->ip.daddr = ip; /* the header's checksum stays the same */
  const __u16 port = h->udp.source;
  h->udp.source = h->udp.dest;
  h->udp.dest = port;
  h->udp.check = 0; /* none */
  const __u16 user = h->own.user, number = h->own.slot;
  h->own.user = h->own.from_user;
  h->own.slot = h->own.from_slot;
  h->own.from_user = user;
  h->own.from_slot = number;
  h->own.kind = kind;
  h->own.from = (__u16)slot->rank;
  h->own.finished = slot->finished[slot->rank & (URA_XDP_RANKS - 1)];
  return XDP_TX;
}

SEC("xdp.frags")
int urakata_reduce(struct xdp_md* ctx) {
  struct headers* const h = (void*)(long)ctx->data;
  if ((void*)(h + 1) > (void*)(long)ctx->data_end) return XDP_PASS;
  if (h->ethernet.h_proto != bpf_htons(ETH_P_IP) || h->ip.protocol != IPPROTO_UDP || h->ip.ihl != 5) return XDP_PASS;
  if (h->own.magic != URA_XDP_MAGIC || h->ip.frag_off & bpf_htons(0x3fff)) return XDP_PASS;

  __u32 key = h->own.user;
  void* const table = bpf_map_lookup_elem(&users, &key);
  if (!table) return XDP_PASS;
  key = h->own.slot;
  struct ura_xdp_slot* const slot = bpf_map_lookup_elem(table, &key);
  if (!slot || slot->token == 0 || slot->token != h->own.token || slot->port != h->udp.dest) return XDP_PASS;

  const __u32 number = h->own.number, form = h->own.form, from = h->own.from, ranks = slot->ranks, rank = slot->rank;
  const __u32 bytes = URA_XDP_BYTES_OF(form);
  if (from >= URA_XDP_RANKS || from >= ranks || ranks < 2 || ranks > URA_XDP_RANKS || rank >= ranks) return XDP_DROP;
  if (bytes > URA_XDP_BYTES) return XDP_DROP;
  ++slot->taken;
  if ((__s32)(h->own.finished - slot->finished[from]) > 0) slot->finished[from] = h->own.finished;
  struct ura_xdp_cell* const cell = &slot->cells[number & (URA_XDP_CELLS - 1)];
  volatile __u64* const word = &cell->word;
  const __u64 now = *word;

  switch (h->own.kind) {
    case URA_XDP_REQUEST:
      if (now >> 32 != number || !(now >> rank & 1) || cell->forms[rank & (URA_XDP_RANKS - 1)] != form) return XDP_DROP;
      if (bytes > 0 && bpf_xdp_store_bytes(ctx, sizeof(struct headers), cell->rows[rank & (URA_XDP_RANKS - 1)], bytes))
        return XDP_DROP;
      break;
    case URA_XDP_ASK:
      /* This rank has the row if it is full, or if a later operation has the cell. */
      if (now >> 32 == number ? !(now >> from & 1) : (__s32)((__u32)(now >> 32) - number) < 0) return XDP_DROP;
      break;
    case URA_XDP_PING:
      break;
    case URA_XDP_PONG:
      __sync_fetch_and_or(&slot->answered, (__u64)1 << from);
      return XDP_DROP;
    case URA_XDP_ANSWER:
      __sync_fetch_and_or(&slot->answered, (__u64)1 << from);
      if (now >> 32 == number) __sync_fetch_and_or(&cell->acknowledged, (__u64)1 << from);
      return XDP_DROP;
    case URA_XDP_DATA: {
      const __u32 needs = ura_xdp_needs(form, rank, ranks);
      if (!(needs >> from & 1)) return XDP_DROP;
      const __u64 claim = (__u64)1 << (16 + from);
      __u64 seen = now;
      int mine = 0;
      for (int i = 0; i < URA_XDP_RANKS && !mine; ++i) { /* another row may be claimed in between */
        if (seen >> 32 != number || seen & claim) return XDP_DROP;
        const __u64 before = __sync_val_compare_and_swap(&cell->word, seen, seen | claim);
        mine = before == seen;
        seen = before;
      }
      if (!mine) return XDP_DROP;
      if (bytes > 0 && bpf_xdp_load_bytes(ctx, sizeof(struct headers), cell->rows[from & (URA_XDP_RANKS - 1)], bytes)) {
        __sync_fetch_and_and(&cell->word, ~claim); /* the frame is too short */
        return XDP_DROP;
      }
      cell->forms[from & (URA_XDP_RANKS - 1)] = form;
      const __u64 full = __sync_fetch_and_or(&cell->word, (__u64)1 << from) | (__u64)1 << from;
      if ((full & needs) == needs) finish(cell, number, form, ranks);
      return XDP_DROP;
    }
    default:
      return XDP_DROP;
  }
  /* bpf_xdp_store_bytes() makes pointers into the packet invalid. */
  struct headers* const again = (void*)(long)ctx->data;
  if ((void*)(again + 1) > (void*)(long)ctx->data_end) return XDP_DROP;
  return turn_back(again, slot, answer_to(again->own.kind));
}

char _license[] SEC("license") = "Dual BSD/GPL";
