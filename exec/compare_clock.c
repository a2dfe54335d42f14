// SPDX-License-Identifier: BSD-3-Clause
/* libcompare-clock.so: what `urakata compare` preloads into the ranks of every side, the MPI library alone too.
 *
 * It reads the clock when MPI_Init returns and when MPI_Finalize begins, and writes the nanoseconds between them to
 * standard error, which a launcher brings from all nodes. It handles nothing else, so a side with the MPI library alone
 * stays alone. The three functions are the same in every MPI, so it needs no mpi.h.
 *
 * Fortran's routines call PMPI_Init or MPI_Init in C; both are here. Of calls inside each other the outermost return of
 * MPI_Init counts, and the first beginning of MPI_Finalize.
 *
 * Its name does not begin with liburakata-: urakata-exec takes libraries of that name out of LD_PRELOAD. */
#include <dlfcn.h>
#include <inttypes.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

typedef int (*init_function)(int*, char***);
typedef int (*init_thread_function)(int*, char***, int, int*);
typedef int (*finalize_function)(void);

static _Atomic int64_t begun; /* ns; 0: the program is not between MPI_Init and MPI_Finalize */

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

struct names {
  char** all;
  size_t count;
};

/* Libraries are opened behind the walk: inside it the linker holds its lock of the list, which another thread's dlopen
 * may wait for with the lock that dlopen here would wait for. */
static int note_name(struct dl_phdr_info* object, size_t size, void* data) {
  struct names* const names = data;
  (void)size;
  char** const more = realloc(names->all, (names->count + 1) * sizeof *more);
  if (more == NULL) return 1;
  names->all = more;
  names->all[names->count] = strdup(object->dlpi_name);
  if (names->all[names->count] == NULL) return 1;
  ++names->count;
  return 0;
}

static void* function_in(const char* library, const char* name) {
  void* const opened = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (opened == NULL) return NULL;
  void* const found = dlsym(opened, name);
  dlclose(opened);
  Dl_info owner;
  Dl_info self;
  const int known = found != NULL && dladdr(found, &owner) != 0 && dladdr(&begun, &self) != 0;
  return known && owner.dli_fbase != self.dli_fbase ? found : NULL;
}

static void* look_everywhere(const char* name) {
  struct names names = {NULL, 0};
  dl_iterate_phdr(note_name, &names);
  void* found = NULL;
  for (size_t i = 0; i < names.count; ++i) {
    if (found == NULL) found = function_in(names.all[i], name);
    free(names.all[i]);
  }
  free(names.all);
  return found;
}

/* The function behind this library. An MPI library that was loaded late, for some library alone, as Python's extension
 * modules do, is in no scope that RTLD_NEXT searches: then all that is loaded is asked. */
static void* next_function(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == NULL) found = look_everywhere(name);
  if (found != NULL) return found;
  /* As the dynamic linker does without this library. */
  fprintf(stderr, "urakata compare: the program calls %s, which no library that it loads has\n", name);
  _exit(127);
}

static void end(void) {
  const int64_t since = atomic_exchange(&begun, 0);
  if (since == 0) return;
  char line[64];
  const int length = snprintf(line, sizeof line, "urakata-clock: %" PRId64 "\n", now_ns() - since);
  /* One write, so that lines of several ranks stay apart. Without it compare takes the time of the whole job. */
  if (length > 0 && write(STDERR_FILENO, line, (size_t)length) < 0) return;
}

/* The functions are found by name, so a pointer to an object becomes one to a function. */
#define NEXT(type, name)                   \
  type next;                               \
  void* const found = next_function(name); \
  memcpy(&next, &found, sizeof next)

EXPORT int MPI_Init(int* count, char*** arguments);
EXPORT int PMPI_Init(int* count, char*** arguments);
EXPORT int MPI_Init_thread(int* count, char*** arguments, int required, int* provided);
EXPORT int PMPI_Init_thread(int* count, char*** arguments, int required, int* provided);
EXPORT int MPI_Finalize(void);
EXPORT int PMPI_Finalize(void);

#define INIT(name)                                 \
  int name(int* count, char*** arguments) {        \
    NEXT(init_function, #name);                    \
    const int code = next(count, arguments);       \
    if (code == 0) atomic_store(&begun, now_ns()); \
    return code;                                   \
  }
INIT(MPI_Init)
INIT(PMPI_Init)

#define INIT_THREAD(name)                                                \
  int name(int* count, char*** arguments, int required, int* provided) { \
    NEXT(init_thread_function, #name);                                   \
    const int code = next(count, arguments, required, provided);         \
    if (code == 0) atomic_store(&begun, now_ns());                       \
    return code;                                                         \
  }
INIT_THREAD(MPI_Init_thread)
INIT_THREAD(PMPI_Init_thread)

#define FINALIZE(name)              \
  int name(void) {                  \
    NEXT(finalize_function, #name); \
    end();                          \
    return next();                  \
  }
FINALIZE(MPI_Finalize)
FINALIZE(PMPI_Finalize)
