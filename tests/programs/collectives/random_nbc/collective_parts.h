/* SPDX-License-Identifier: BSD-3-Clause */
// What the files collective*.c share.
#ifndef URAKATA_TESTS_COLLECTIVE_PARTS_H
#define URAKATA_TESTS_COLLECTIVE_PARTS_H

#include "collective.h"

// collective.c: buffers with guards, of bytes [low, high) around the address given to MPI, and for `elements` of a
// side.
Buffer allocate(MPI_Aint low, MPI_Aint high);
Buffer plain_buffer(const Side* side, int elements);

// collective_issue.c: the call, in any form, with `target` as receive buffer; and the handles of the case itself.
void issue(const Collective* c, Form form, const Handles* h, const Buffer* target, MPI_Request* request);
Handles own_handles(const Collective* c);

#endif
