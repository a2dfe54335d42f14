// SPDX-License-Identifier: BSD-3-Clause
/* Has the library argv[1] register a page as libibverbs does, and leaves another page out of forks itself: prints for
 * each whether the kernel was told to leave it out. Inside a space on a kernel that copies registered pages: "no yes".
 * */
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* Whether a fork leaves out the page (its mapping's flag "dc" in smaps). */
static int is_left_out(const void* page) {
  FILE* const maps = fopen("/proc/self/smaps", "r");
  char line[4096];
  int here = 0;
  int left_out = -1;
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    unsigned long begin = 0;
    unsigned long end = 0;
    if (sscanf(line, "%lx-%lx ", &begin, &end) == 2) here = (uintptr_t)page >= begin && (uintptr_t)page < end;
    if (here && strncmp(line, "VmFlags:", 8) == 0) left_out = strstr(line, " dc") != NULL;
  }
  if (maps != NULL) fclose(maps);
  return left_out;
}

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  void* const library = dlopen(arguments[1], RTLD_NOW);
  if (library == NULL) {
    printf("%s\n", dlerror());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  int (*advise)(void*, size_t, int) = NULL;
  *(void**)&advise = dlsym(library, "advise");
  char* const pages = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (advise(pages, 4096, MADV_DONTFORK) != 0 || madvise(pages + 2 * 4096, 4096, MADV_DONTFORK) != 0) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  printf("left out: %s %s\n", is_left_out(pages) == 1 ? "yes" : "no",
         is_left_out(pages + 2 * 4096) == 1 ? "yes" : "no");
  MPI_Finalize();
  return 0;
}
