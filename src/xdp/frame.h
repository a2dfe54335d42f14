/* SPDX-License-Identifier: BSD-3-Clause */
/* What eBPF code at a network interface shares with the ranks of its node: the frames of small collectives, and memory
 * for inputs and results. In C, since both sides are compiled from it. All numbers are in the node's own byte order,
 * which is the same on all nodes of a job.
 *
 * Each user who may reduce at an interface has a *table* of slots there, mapped into the user's processes. A slot
 * belongs to one rank of one communicator. Operations have numbers 0, 1, 2, ..., which wrap. Operation n uses cell
 * n % URA_XDP_CELLS of the slot. A cell has a row for the input of each rank, and one more row for the result.
 *
 * The word of a cell tells which operation has the cell, and which rows are full:
 *   bits 63..32  number of the operation
 *   bits 31..16  bit 16 + rank: the rank's row is full, or eBPF code is filling it, which sets the bit before it does
 *   bits 15..0   bit rank: the rank's row is full
 * All changes of the word are atomic. The side that fills the last row that this rank needs, the rank or eBPF code,
 * computes the result in the order of ranks, and then stores `done`. From then on neither these rows nor the result
 * change until the slot's owner gives the cell to another operation by a new word. A late copy of a frame finds its row
 * taken, or another number. */
#ifndef URAKATA_XDP_FRAME_H
#define URAKATA_XDP_FRAME_H

#include <linux/types.h>

enum {
  URA_XDP_RANKS = 16,             /* most ranks of a communicator: the bits of a cell's word */
  URA_XDP_CELLS = 8,              /* operations of a communicator that have cells at a time; a power of two */
  URA_XDP_SLOTS = 32,             /* communicators of a user on a node at a time; a power of two */
  URA_XDP_USERS = 16,             /* most users of an interface; a power of two */
  URA_XDP_BYTES = 1408,           /* bytes of a row: one rank's input; with all headers within 1500 */
  URA_XDP_OPS = 8,                /* most operations of programs' own at an interface */
  URA_XDP_RESULT = URA_XDP_RANKS, /* the row of the result */
  URA_XDP_ROWS
};

#define URA_XDP_MAGIC 0x346b7275U /* "urk4": changes with what is below */

enum ura_xdp_kind {
  URA_XDP_DATA,    /* payload: the input of rank `from` to operation `number` */
  URA_XDP_REQUEST, /* asks for the receiver's input, again; as long as the URA_XDP_DATA that answers */
  URA_XDP_ASK,     /* asks whether the receiver has the input of rank `from` */
  URA_XDP_ANSWER,  /* it has; if it has not, there is no answer */
  URA_XDP_PING,    /* asks whether eBPF code answers at the receiver's interface; of no operation */
  URA_XDP_PONG     /* it does */
};

enum ura_xdp_operation { URA_XDP_ALLREDUCE, URA_XDP_REDUCE, URA_XDP_BCAST, URA_XDP_BARRIER };
enum ura_xdp_op { URA_XDP_SUM, URA_XDP_PROD, URA_XDP_MIN, URA_XDP_MAX, URA_XDP_BAND, URA_XDP_BOR, URA_XDP_BXOR };
enum { URA_XDP_OWN = 8 }; /* from here on: operations of programs' own, by number at the interface; with type 0 */
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

/* The operations of programs' own at an interface, by number, in the order of their names. So nodes at which the same
 * ones are attached have the same numbers. Numbers that are not in use have an empty name. */
struct ura_xdp_ops {
  struct ura_xdp_own_op {
    char name[28]; /* filled up with zeros, at least one */
    __u32 bytes;   /* of an element */
  } of[URA_XDP_OPS];
};

/* The form of an operation: what is computed, and the bytes of each rank's input. If ranks have different forms, the
 * operation fails on each rank that notices it. */
#define URA_XDP_FORM(operation, root, op, type, bytes) \
  ((__u32)(operation) << 28 | (__u32)(root) << 24 | (__u32)(op) << 20 | (__u32)(type) << 16 | (__u32)(bytes))
#define URA_XDP_OPERATION(form) ((form) >> 28)
#define URA_XDP_ROOT(form) ((form) >> 24 & 15)
#define URA_XDP_OP(form) ((form) >> 20 & 15)
#define URA_XDP_TYPE(form) ((form) >> 16 & 15)
#define URA_XDP_BYTES_OF(form) ((form)&0xffff)

/* The header of a frame, after those of Ethernet, IPv4 and UDP. */
struct ura_xdp_header {
  __u32 magic;
  __u16 kind;
  __u16 from;      /* rank of the group that sends it */
  __u16 user;      /* the receiver's user, by number at its interface */
  __u16 slot;      /* the receiver's slot, by number in the user's table */
  __u16 from_user; /* the sender's user and slot, to which an answer goes */
  __u16 from_slot;
  __u64 token;  /* the communicator's, which only its ranks know */
  __u32 number; /* of the operation */
  __u32 form;
  __u32 finished; /* an operation's number: the sender needs nothing more of those before it */
  __u32 reserved;
};

struct ura_xdp_cell {
  __u64 word;
  __u64 done;         /* URA_XDP_DONE(number, right); URA_XDP_NEVER: none yet */
  __u64 acknowledged; /* bit r: rank r has this rank's row */
  __u64 reserved[5];
  __u32 forms[URA_XDP_RANKS]; /* by rank: the form for which the rank filled its row */
  __u8 rows[URA_XDP_ROWS][URA_XDP_BYTES];
};
#define URA_XDP_DONE(number, right) ((__u64)(number) << 1 | (__u64)(right))
#define URA_XDP_NEVER (~(__u64)0)

struct ura_xdp_slot {
  __u64 token; /* 0: no frame is taken */
  __u64 owner; /* the process that has the slot (owner.hpp); 0: nobody */
  __u32 user;  /* number of the table's user at the interface; constant */
  __u32 rank;
  __u32 ranks;
  __u16 port; /* of this slot's UDP socket, in network byte order */
  __u16 reserved;
  __u32 finished[URA_XDP_RANKS]; /* by rank: the latest `finished` of its frames; also this rank's own */
  __u64 taken;                   /* number of frames for this slot; a statistic, not exact */
  __u64 answered;                /* bit r: rank r's eBPF code has answered an ASK or PING, so it can send */
  struct ura_xdp_cell cells[URA_XDP_CELLS];
};

/* The ranks whose rows rank `rank` needs for its result, as bits; 0: the rank only gives an input. */
static inline __attribute__((always_inline)) __u32 ura_xdp_needs(__u32 form, __u32 rank, __u32 ranks) {
  const __u32 all = (1U << (ranks & 31)) - 1;
  const __u32 operation = URA_XDP_OPERATION(form);
  if (operation == URA_XDP_REDUCE) return rank == URA_XDP_ROOT(form) ? all : 0;
  if (operation == URA_XDP_BCAST) return 1U << URA_XDP_ROOT(form);
  return all;
}

#endif
