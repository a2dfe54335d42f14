// SPDX-License-Identifier: BSD-3-Clause
#include <stdlib.h>
#include <string.h>

#include "collective.h"
#include "collective_parts.h"

#define UNPACK(...) __VA_ARGS__
#define CALL(name, ...) name(__VA_ARGS__)
#if HAVE_PERSISTENT
#define CASE_INIT(Name, ARGS)                                    \
  case INIT:                                                     \
    CALL(PERSISTENT(Name), UNPACK ARGS, MPI_INFO_NULL, request); \
    break;
#else
#define CASE_INIT(Name, ARGS)
#endif
#if HAVE_LARGE_COUNT
#define CASES_LARGE(Name, name, ARGS)                               \
  case NONBLOCKING_LARGE:                                           \
    CALL(MPI_I##name##_c, UNPACK ARGS, request);                    \
    break;                                                          \
  case INIT_LARGE:                                                  \
    CALL(MPI_##Name##_init_c, UNPACK ARGS, MPI_INFO_NULL, request); \
    break;
#else
#define CASES_LARGE(Name, name, ARGS)
#endif
// One operation in all its forms; ARGS_LARGE are those of the _c forms.
#define ISSUE(Name, name, ARGS, ARGS_LARGE)    \
  switch (form) {                              \
    case BLOCKING:                             \
      CALL(MPI_##Name, UNPACK ARGS);           \
      break;                                   \
    case NONBLOCKING:                          \
      CALL(MPI_I##name, UNPACK ARGS, request); \
      break;                                   \
      CASE_INIT(Name, ARGS)                    \
      CASES_LARGE(Name, name, ARGS_LARGE)      \
    default:                                   \
      abort();                                 \
  }                                            \
  break

void issue(const Collective* c, Form form, const Handles* h, const Buffer* target, MPI_Request* request) {
  const Side* s = &c->send;
  const Side* r = &c->recv;
  const bool into_place = c->in_place && (c->operation == SCATTER || c->operation == SCATTERV);
  const void* out = c->in_place && !into_place ? MPI_IN_PLACE : c->outgoing.base;
  void* in = into_place ? MPI_IN_PLACE : target->base;
  const int sn = s->shape.count;
  const int rn = r->shape.count;
  switch (c->operation) {
    case BARRIER:
      switch (form) {
        case BLOCKING:
          MPI_Barrier(h->comm);
          break;
        case NONBLOCKING:
          MPI_Ibarrier(h->comm, request);
          break;
#if HAVE_PERSISTENT
        case INIT:
          PERSISTENT(Barrier)(h->comm, MPI_INFO_NULL, request);
          break;
#endif
        default:
          abort();
      }
      break;
    case BCAST:
      ISSUE(Bcast, bcast, (in, rn, h->recv_type, c->root, h->comm), (in, rn, h->recv_type, c->root, h->comm));
    case GATHER:
      ISSUE(Gather, gather, (out, sn, h->send_type, in, rn, h->recv_type, c->root, h->comm),
            (out, sn, h->send_type, in, rn, h->recv_type, c->root, h->comm));
    case GATHERV:
      ISSUE(Gatherv, gatherv, (out, sn, h->send_type, in, r->counts, r->displacements, h->recv_type, c->root, h->comm),
            (out, sn, h->send_type, in, r->large_counts, r->large_displacements, h->recv_type, c->root, h->comm));
    case SCATTER:
      ISSUE(Scatter, scatter, (out, sn, h->send_type, in, rn, h->recv_type, c->root, h->comm),
            (out, sn, h->send_type, in, rn, h->recv_type, c->root, h->comm));
    case SCATTERV:
      ISSUE(Scatterv, scatterv,
            (out, s->counts, s->displacements, h->send_type, in, rn, h->recv_type, c->root, h->comm),
            (out, s->large_counts, s->large_displacements, h->send_type, in, rn, h->recv_type, c->root, h->comm));
    case ALLGATHER:
      ISSUE(Allgather, allgather, (out, sn, h->send_type, in, rn, h->recv_type, h->comm),
            (out, sn, h->send_type, in, rn, h->recv_type, h->comm));
    case ALLGATHERV:
      ISSUE(Allgatherv, allgatherv, (out, sn, h->send_type, in, r->counts, r->displacements, h->recv_type, h->comm),
            (out, sn, h->send_type, in, r->large_counts, r->large_displacements, h->recv_type, h->comm));
    case ALLTOALL:
      ISSUE(Alltoall, alltoall, (out, sn, h->send_type, in, rn, h->recv_type, h->comm),
            (out, sn, h->send_type, in, rn, h->recv_type, h->comm));
    case ALLTOALLV:
      ISSUE(Alltoallv, alltoallv,
            (out, s->counts, s->displacements, h->send_type, in, r->counts, r->displacements, h->recv_type, h->comm),
            (out, s->large_counts, s->large_displacements, h->send_type, in, r->large_counts, r->large_displacements,
             h->recv_type, h->comm));
    case ALLTOALLW:
      ISSUE(Alltoallw, alltoallw,
            (out, s->counts, s->displacements, h->send_types, in, r->counts, r->displacements, h->recv_types, h->comm),
            (out, s->large_counts, s->large_displacements, h->send_types, in, r->large_counts, r->large_displacements,
             h->recv_types, h->comm));
    case REDUCE:
      ISSUE(Reduce, reduce, (out, in, sn, h->send_type, h->op, c->root, h->comm),
            (out, in, sn, h->send_type, h->op, c->root, h->comm));
    case ALLREDUCE:
      ISSUE(Allreduce, allreduce, (out, in, sn, h->send_type, h->op, h->comm),
            (out, in, sn, h->send_type, h->op, h->comm));
    case REDUCE_SCATTER:
      ISSUE(Reduce_scatter, reduce_scatter, (out, in, r->counts, h->send_type, h->op, h->comm),
            (out, in, r->large_counts, h->send_type, h->op, h->comm));
    case REDUCE_SCATTER_BLOCK:
      ISSUE(Reduce_scatter_block, reduce_scatter_block, (out, in, rn, h->send_type, h->op, h->comm),
            (out, in, rn, h->send_type, h->op, h->comm));
    case SCAN:
      ISSUE(Scan, scan, (out, in, sn, h->send_type, h->op, h->comm), (out, in, sn, h->send_type, h->op, h->comm));
    default:
      ISSUE(Exscan, exscan, (out, in, sn, h->send_type, h->op, h->comm), (out, in, sn, h->send_type, h->op, h->comm));
  }
}

Handles own_handles(const Collective* c) {
  Handles h = {.comm = c->comm, .op = c->op.op, .send_type = c->send.shape.type, .recv_type = c->recv.shape.type};
  memcpy(h.send_types, c->send.types, sizeof h.send_types);
  memcpy(h.recv_types, c->recv.types, sizeof h.recv_types);
  if (c->operation == BCAST || c->operation == BARRIER) h.send_type = MPI_DATATYPE_NULL;
  return h;
}

static void issue_and_free(Collective* c) {
  const Handles own = own_handles(c);
  c->handles = own;
  const bool derived = !c->reduction || c->op.primitive == NULL;
  const bool typed = c->operation != BARRIER && c->operation != ALLTOALLW && derived;
  MPI_Comm_dup(own.comm, &c->handles.comm);
  if (is_persistent(c)) {  // nothing but the request is to keep the communicator, not even its first collective
    MPI_Request first;
    MPI_Ibarrier(c->handles.comm, &first);
    MPI_Wait(&first, MPI_STATUS_IGNORE);
  }
  if (typed && own.send_type != MPI_DATATYPE_NULL) MPI_Type_dup(own.send_type, &c->handles.send_type);
  if (typed) MPI_Type_dup(own.recv_type, &c->handles.recv_type);
  if (c->operation == ALLTOALLW) {
    for (int i = 0; i < c->size; ++i) {
      MPI_Type_dup(own.send_types[i], &c->handles.send_types[i]);
      MPI_Type_dup(own.recv_types[i], &c->handles.recv_types[i]);
    }
  }
  const bool duplicate_op = c->reduction && c->op.primitive == NULL;
  if (duplicate_op) c->handles.op = user_op(&c->op);
  issue(c, c->form, &c->handles, &c->got, &c->request);
  if (duplicate_op) MPI_Op_free(&c->handles.op);
  if (typed && own.send_type != MPI_DATATYPE_NULL) MPI_Type_free(&c->handles.send_type);
  if (typed) MPI_Type_free(&c->handles.recv_type);
  if (c->operation == ALLTOALLW) {
    for (int i = 0; i < c->size; ++i) {
      MPI_Type_free(&c->handles.send_types[i]);
      MPI_Type_free(&c->handles.recv_types[i]);
    }
  }
  MPI_Comm_free(&c->handles.comm);
}

static void issue_as_drawn(Collective* c) {
  if (c->free_early) {
    issue_and_free(c);
  } else {
    c->handles = own_handles(c);
    issue(c, c->form, &c->handles, &c->got, &c->request);
  }
}

void initialise(Collective* c) { issue_as_drawn(c); }

void start(Collective* c) {
  if (is_persistent(c)) {
    MPI_Start(&c->request);
  } else {
    issue_as_drawn(c);
  }
}
