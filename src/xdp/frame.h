/* SPDX-License-Identifier: BSD-3-Clause */
/* What eBPF code at a network interface and the ranks of a node share: the frames of small reductions, and the memory
 * in which they meet. In C, since both sides are compiled from it; all numbers are the node's own byte order, which all
 * nodes of a job have in common.
 *
 * Each user who may reduce at an interface has a *table* of slots there, mapped into his processes. A slot is one
 * communicator's on this node. Its operations have numbers 0, 1, 2, ...; operation n uses cell n % URA_XDP_CELLS. In a
 * cell each rank of the communicator has a row for what it gives, and one more row takes the result.
 *
 * The word of a cell tells which operation it is for and who has given:
 *   bits 63..32  number of the operation
 *   bits 31..16  ranks whose row is being filled, or is (bit 16 + rank): set before the row is touched, by who may fill it
 *   bits 15..0   ranks whose row is full
 * All changes are atomic. Whoever fills the last row that this rank needs computes the result, in the order of ranks,
 * and then stores `done`. So nothing in a cell changes any more once it is done, until its owner gives it to another
 * operation by a new word; a late copy of a frame finds its row taken, or another number. */
#ifndef URAKATA_XDP_FRAME_H
#define URAKATA_XDP_FRAME_H

#include <linux/types.h>

enum {
  URA_XDP_RANKS = 16,             /* of a communicator, at most: the bits of a cell's word */
  URA_XDP_CELLS = 8,              /* operations of a communicator at a time; a power of two */
  URA_XDP_SLOTS = 32,             /* communicators of a user on a node at a time; a power of two */
  URA_XDP_USERS = 16,             /* of an interface, at most; a power of two */
  URA_XDP_BYTES = 1408,           /* of a row: what one rank gives; with all headers within 1500 */
  URA_XDP_OPS = 8,                /* of programs' own at an interface, at most */
  URA_XDP_RESULT = URA_XDP_RANKS, /* the row of the result */
  URA_XDP_ROWS
};

#define URA_XDP_MAGIC 0x346b7275U /* "urk4": changes with what is below */

enum ura_xdp_kind {
  URA_XDP_DATA,    /* what rank `from` gives to operation `number`; payload */
  URA_XDP_REQUEST, /* who has this number and has not given it to me: again, please; room for the payload */
  URA_XDP_ASK,     /* do you have what I gave? */
  URA_XDP_ANSWER,  /* yes */
  URA_XDP_PING,    /* are you there? of no operation */
  URA_XDP_PONG     /* yes */
};

enum ura_xdp_operation { URA_XDP_ALLREDUCE, URA_XDP_REDUCE, URA_XDP_BCAST, URA_XDP_BARRIER };
enum ura_xdp_op { URA_XDP_SUM, URA_XDP_PROD, URA_XDP_MIN, URA_XDP_MAX, URA_XDP_BAND, URA_XDP_BOR, URA_XDP_BXOR };
enum { URA_XDP_OWN = 8 }; /* and above: those of programs' own, by their numbers at the interface; of type 0 */
enum ura_xdp_type {
  URA_XDP_I8,
  URA_XDP_I16,
  URA_XDP_I32,
  URA_XDP_I64,
  URA_XDP_U8,
  URA_XDP_U16,
  URA_XDP_U32,
  URA_XDP_U64,
  URA_XDP_F32,
  URA_XDP_F64
};

/* The operations of programs' own at an interface, by number; those that are not attached have no name. In the order of
 * their names, so that nodes with the same ones have the same numbers. */
struct ura_xdp_ops {
  struct ura_xdp_own_op {
    char name[28]; /* zeros behind it, at least one */
    __u32 bytes;   /* of an element */
  } of[URA_XDP_OPS];
};

/* What is computed, of how many bytes a rank: the same number on all ranks, or the operation fails on all that see it. */
#define URA_XDP_FORM(operation, root, op, type, bytes) \
  ((__u32)(operation) << 28 | (__u32)(root) << 24 | (__u32)(op) << 20 | (__u32)(type) << 16 | (__u32)(bytes))
#define URA_XDP_OPERATION(form) ((form) >> 28)
#define URA_XDP_ROOT(form) ((form) >> 24 & 15)
#define URA_XDP_OP(form) ((form) >> 20 & 15)
#define URA_XDP_TYPE(form) ((form) >> 16 & 15)
#define URA_XDP_BYTES_OF(form) ((form)&0xffff)

/* Behind Ethernet, IPv4 and UDP. */
struct ura_xdp_header {
  __u32 magic;
  __u16 kind;
  __u16 from;      /* rank of the group that sends it */
  __u16 user;      /* where it is to: the user's number at the interface, */
  __u16 slot;      /* and the slot */
  __u16 from_user; /* where an answer is to go, likewise */
  __u16 from_slot;
  __u64 token; /* the communicator's, which only its ranks know */
  __u32 number;
  __u32 form;
  __u32 finished; /* the sender has all that it needs of the operations before this one */
  __u32 reserved;
};

struct ura_xdp_cell {
  __u64 word;
  __u64 done;         /* URA_XDP_DONE(number, right); URA_XDP_NEVER: none yet */
  __u64 acknowledged; /* bit r: rank r has what this rank gave */
  __u64 reserved[5];
  __u32 forms[URA_XDP_RANKS]; /* that each rank gave its row for */
  __u8 rows[URA_XDP_ROWS][URA_XDP_BYTES];
};
#define URA_XDP_DONE(number, right) ((__u64)(number) << 1 | (__u64)(right))
#define URA_XDP_NEVER (~(__u64)0)

struct ura_xdp_slot {
  __u64 token; /* 0: no frame is taken */
  __u64 owner; /* the process that has the slot (owner.hpp); 0: nobody */
  __u32 user;  /* number of the table's user; by who attaches */
  __u32 rank;
  __u32 ranks;
  __u16 port; /* UDP, of this slot's socket, as on the wire */
  __u16 reserved;
  __u32 finished[URA_XDP_RANKS]; /* as each rank has said in its latest frame */
  __u64 taken;                   /* frames that were for this slot; a statistic, not exact */
  __u64 answered;                /* bit r: rank r has answered a question or ping, so eBPF code there can send */
  struct ura_xdp_cell cells[URA_XDP_CELLS];
};

/* The ranks whose rows rank `rank` needs for its result, as bits; 0: it gives only. */
static inline __attribute__((always_inline)) __u32 ura_xdp_needs(__u32 form, __u32 rank, __u32 ranks) {
  const __u32 all = (1U << (ranks & 31)) - 1;
  const __u32 operation = URA_XDP_OPERATION(form);
  if (operation == URA_XDP_REDUCE) return rank == URA_XDP_ROOT(form) ? all : 0;
  if (operation == URA_XDP_BCAST) return 1U << URA_XDP_ROOT(form);
  return all;
}

#endif
