// SPDX-License-Identifier: BSD-3-Clause
// Calls that do not end as usual, for the profile: error handlers leave some by longjmp, and callbacks call MPI inside
// others, 20 ms after they have begun and 20 ms before they end.
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>

static jmp_buf back;

static void leave(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  longjmp(back, *code);
}

static void spin(void) {
  const double begin = MPI_Wtime();
  while (MPI_Wtime() - begin < 0.02) {
  }
}

static int copy(MPI_Comm comm, int key, void* extra, void* in, void* out, int* copies) {
  (void)comm, (void)key, (void)in, (void)out;
  double mine = 1, sum = 0;
  MPI_Request request;
  spin();
  MPI_Iallreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, *(MPI_Comm*)extra, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  spin();
  *copies = 0;
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm with_handler, with_key, again;
  MPI_Comm_dup(MPI_COMM_WORLD, &with_handler);
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(leave, &handler);
  MPI_Comm_set_errhandler(with_handler, handler);
  for (volatile int i = 0; i < 3; ++i) {
    if (setjmp(back) == 0) MPI_Send(NULL, 0, MPI_INT, 1000, 0, with_handler);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &with_key);
  int key;
  MPI_Comm world = MPI_COMM_WORLD;
  MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, &world);
  MPI_Comm_set_attr(with_key, key, NULL);
  for (int i = 0; i < 5; ++i) {
    MPI_Comm_dup(with_key, &again);
    MPI_Comm_free(&again);
  }
  MPI_Finalize();
  puts("ok");
  return 0;
}
