// SPDX-License-Identifier: BSD-3-Clause
// Asks for a level of threads, sends a message around the ring of all ranks, and says what it was told, what the MPI
// library, asked itself and not by way of whoever stands in front of it, has come up with, and how many progress
// threads of collectives there are.
//     thread_level LEVEL
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_the_librarys(struct dl_phdr_info* library, size_t size, void* found) {
  (void)size;
  const char* name = strrchr(library->dlpi_name, '/');
  if (name == NULL || strncmp(name, "/libmpi.so", strlen("/libmpi.so")) != 0) return 0;
  *(const char**)found = library->dlpi_name;
  return 1;
}

static int level_of_library(void) {
  const char* path = NULL;
  dl_iterate_phdr(is_the_librarys, &path);
  void* library = path != NULL ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
  int (*query)(int*) = NULL;
  if (library != NULL) *(void**)&query = dlsym(library, "PMPI_Query_thread");
  int level = -1;
  if (query != NULL) query(&level);
  return level;
}

static int threads_named(const char* wanted) {
  int found = 0;
  DIR* threads = opendir("/proc/self/task");
  for (const struct dirent* one; threads != NULL && (one = readdir(threads)) != NULL;) {
    char path[300], name[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", one->d_name);
    FILE* file = fopen(path, "r");
    if (file == NULL) continue;
    if (fgets(name, sizeof name, file) != NULL && strcmp(name, wanted) == 0) ++found;
    fclose(file);
  }
  if (threads != NULL) closedir(threads);
  return found;
}

static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};

static int number_of(int level) {
  for (int i = 0; i < 4; ++i) {
    if (levels[i] == level) return i;
  }
  return -1;
}

int main(int argc, char** argv) {
  int rank = 0, ranks = 0, told = -1, got = -1;
  const int asked = argc == 2 ? atoi(argv[1]) : -1;
  if (asked < 0 || asked > 3) return 2;
  MPI_Init_thread(&argc, &argv, levels[asked], &told);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % ranks, 0, &got, 1, MPI_INT, (rank + ranks - 1) % ranks, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  int sum = 0;
  MPI_Request request;
  MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("asked %d, told %d, the MPI library has %d, progress threads: %d\n", asked, number_of(told),
         number_of(level_of_library()), threads_named("urakata/0\n"));
  MPI_Finalize();
  return got != (rank + ranks - 1) % ranks || sum != ranks * (ranks - 1) / 2;
}
