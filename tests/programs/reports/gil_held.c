// SPDX-License-Identifier: BSD-3-Clause
/* An extension module of Python: two ranks. While one thread of rank 0 starts an operation, another one holds the GIL
 * and waits for a message that rank 1 sends when the operation is done there. */
#include <Python.h>
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t held;

static void* hold(void* unused) {
  const PyGILState_STATE state = PyGILState_Ensure();
  sem_post(&held);
  char byte;
  MPI_Recv(&byte, 1, MPI_BYTE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  PyGILState_Release(state);
  return unused;
}

static PyObject* run(PyObject* self, PyObject* unused) {
  (void)self, (void)unused;
  int level, rank, sum = 0;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
  if (level != MPI_THREAD_MULTIPLE) exit(77);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Py_BEGIN_ALLOW_THREADS;
  pthread_t holder;
  if (rank == 0) {
    sem_init(&held, 0, 0);
    pthread_create(&holder, NULL, hold, NULL);
    sem_wait(&held);
  }
  MPI_Request request;
  MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  if (rank == 0) pthread_join(holder, NULL);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == 1) MPI_Send("", 1, MPI_BYTE, 0, 7, MPI_COMM_WORLD);
  Py_END_ALLOW_THREADS;
  MPI_Finalize();
  return PyLong_FromLong(sum);
}

static PyMethodDef methods[] = {{"run", run, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "gil_held", NULL, 0, methods, NULL, NULL, NULL, NULL};
PyMODINIT_FUNC PyInit_gil_held(void) { return PyModule_Create(&module); }
