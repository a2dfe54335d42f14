// SPDX-License-Identifier: BSD-3-Clause
// A PMPI tool that counts calls. As it is unloaded each rank prints: "NAME saw 1 Init, 50 Iallreduce, 50 Wait". With
// -DNO_INIT or -DNO_START it does not cover MPI_Init or MPI_Iallreduce, as most tools leave functions to others.
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

#define TEXT(word) #word
#define TEXT_OF(macro) TEXT(macro)

static int inits;
static int starts;
static int waits;

__attribute__((destructor)) static void tell(void) {
  if (inits + starts + waits == 0) return;  // in a child, or a program that calls no MPI
  char line[100];
  const int length =
      snprintf(line, sizeof line, TEXT_OF(NAME) " saw %d Init, %d Iallreduce, %d Wait\n", inits, starts, waits);
  if (write(1, line, (size_t)length) != length) _exit(9);
}

#ifndef NO_INIT
int MPI_Init(int* count, char*** words) {
  ++inits;
  return PMPI_Init(count, words);
}
#endif

#ifndef NO_START
int MPI_Iallreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
  ++starts;
  return PMPI_Iallreduce(from, to, count, type, op, comm, request);
}
#endif

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  ++waits;
  return PMPI_Wait(request, status);
}
