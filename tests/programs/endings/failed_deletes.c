// SPDX-License-Identifier: BSD-3-Clause
// Three attributes on MPI_COMM_SELF, which MPI_Finalize deletes, the last one first. The callback of the middle one
// returns an error, as does a delete that the last one's callback asks for itself. No callback is called twice there.
#include <mpi.h>
#include <stdio.h>

enum { kAttributes = 3 };

static int calls[kAttributes], keys[kAttributes], other, asked, refused;

static int at_end(MPI_Comm comm, int key, void* value, void* extra) {
  const int which = (int)((int*)extra - calls);
  (void)key, (void)value;
  ++calls[which];
  if (which == kAttributes - 1) refused = MPI_Comm_delete_attr(comm, other) != MPI_SUCCESS;
  return which == 1 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

// Twice: the first time the program asks for it, and the attribute stays.
static int fails(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  return ++asked == 1 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, fails, &other, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, other, NULL);
  for (int i = 0; i < kAttributes; ++i) {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &keys[i], &calls[i]);
    MPI_Comm_set_attr(MPI_COMM_SELF, keys[i], NULL);
  }
  // The functions of keyvals get what the program has given them, also where an attribute is copied.
  int key, flag, *value = NULL;
  MPI_Comm copy;
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, &key);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_get_attr(copy, key, &value, &flag);
  const int copied = flag && value == &key;
  MPI_Comm_free(&copy);
  const int failed = MPI_Finalize() != MPI_SUCCESS;
  printf("copied %d, refused %d, asked %d, calls %d %d %d, failed %d\n", copied, refused, asked, calls[0], calls[1],
         calls[2], failed);
  return 0;
}
