// What thread level the host was given, and whether there is a helper: each rank asks for the level of the first argument
// (single or multiple), does an Iallreduce, and prints "level L of the host, N helpers".
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

// The host's own function: those of the program's names are Urakata's.
static int level_of_the_host(void) {
  static const char* const libraries[] = {"libmpi.so.40", "libmpi.so.12", "libmpich.so.12"};
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; ++i) {
    void* library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL) continue;
    int level = -1;
    int (*query)(int*);
    *(void**)&query = dlsym(library, "PMPI_Query_thread");
    if (query != NULL) query(&level);
    return level;
  }
  return -1;
}

static int helpers(void) {
  DIR* tasks = opendir("/proc/self/task");
  int found = 0;
  for (struct dirent* one; (one = readdir(tasks)) != NULL;) {
    char path[300], name[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", one->d_name);
    FILE* file = fopen(path, "r");
    if (file == NULL) continue;
    if (fgets(name, sizeof name, file) != NULL && strncmp(name, "urakata/0", 9) == 0) ++found;
    fclose(file);
  }
  closedir(tasks);
  return found;
}

int main(int argc, char** argv) {
  const int wanted = argc > 1 && strcmp(argv[1], "multiple") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  int told, rank, ranks;
  MPI_Init_thread(&argc, &argv, wanted, &told);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int sum = 0;
  MPI_Request request;
  MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  const int level = level_of_the_host();
  printf("level %s of the host, %d helpers\n",
         level == MPI_THREAD_SINGLE     ? "single"
         : level == MPI_THREAD_MULTIPLE ? "multiple"
                                        : "other",
         helpers());
  MPI_Finalize();
  return told != wanted || sum != ranks * (ranks - 1) / 2;
}
