// SPDX-License-Identifier: BSD-3-Clause
// What a program may do in a space as anywhere: threads, OpenMP, malloc, fork, vfork, exec, system, popen, posix_spawn,
// dlopen, exceptions, signal handlers, thread-local storage. Prints "right" and ends with 0, or says what went wrong
// and ends with 1.
//
//     space_life [ROUNDS]
#include <dlfcn.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

extern char** environ;

namespace {

thread_local int mine = 7;
int global = 1;
std::atomic<int> caught{0};

void check(bool good, const char* what) {
  if (good) return;
  std::printf("wrong: %s\n", what);
  std::fflush(stdout);
  std::_Exit(1);
}

void storm(unsigned seed) {
  mine = static_cast<int>(seed);
  std::vector<std::string> kept;
  for (unsigned i = 0; i < 2000; ++i) {
    seed = seed * 1664525U + 1013904223U;
    kept.emplace_back(seed % (i % 50 == 0 ? 300000 : 3000), static_cast<char>('a' + i % 26));
    if (kept.size() > 100) {
      for (const std::string& one : kept) check(one.empty() || one.front() == one.back(), "memory of a thread");
      kept.clear();
    }
  }
}

void openmp() {
  long sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(3)
  for (int i = 0; i < 10000; ++i) sum += i;
  check(sum == 49995000, "OpenMP");
}

int deep(int level) {
  if (level == 0) throw std::runtime_error("thrown");
  return deep(level - 1) + 1;
}

void exceptions() {
  for (int i = 0; i < 100; ++i) {
    bool seen = false;
    try {
      deep(20);
    } catch (const std::exception& error) {
      seen = std::strcmp(error.what(), "thrown") == 0;
    }
    check(seen, "an exception");
  }
}

void children() {
  global = 2;
  const pid_t child = fork();
  if (child == 0) {
    std::vector<char> memory(1 << 20, 'x');
    global = 3;
    _exit(memory[100] == 'x' && mine == 7 ? 5 : 6);
  }
  int status = 0;
  check(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 5, "fork");
  check(global == 2, "memory after fork");
  check(WEXITSTATUS(std::system("exit 4")) == 4, "system");
  FILE* pipe = popen("echo through a pipe", "r");
  char line[100] = "";
  check(pipe != nullptr && std::fgets(line, sizeof line, pipe) != nullptr && pclose(pipe) == 0, "popen");
  check(std::strcmp(line, "through a pipe\n") == 0, "what popen gives");
  const pid_t executing = fork();
  if (executing == 0) {
    execlp("sh", "sh", "-c", "exit 8", nullptr);
    _exit(1);
  }
  check(waitpid(executing, &status, 0) == executing && WEXITSTATUS(status) == 8, "exec");
  const pid_t borrowing = vfork();
  if (borrowing == 0) {
    execlp("sh", "sh", "-c", "exit 3", nullptr);
    _exit(1);
  }
  check(waitpid(borrowing, &status, 0) == borrowing && WEXITSTATUS(status) == 3, "vfork");
  char shell[] = "sh", flag[] = "-c", command[] = "exit 9";
  char* arguments[] = {shell, flag, command, nullptr};
  pid_t spawned = 0;
  check(posix_spawnp(&spawned, "sh", nullptr, nullptr, arguments, environ) == 0, "posix_spawn");
  check(waitpid(spawned, &status, 0) == spawned && WEXITSTATUS(status) == 9, "what posix_spawn started");
}

void libraries() {
  void* const library = dlopen("libm.so.6", RTLD_NOW);
  check(library != nullptr, "dlopen");
  const auto root = reinterpret_cast<double (*)(double)>(dlsym(library, "sqrt"));
  check(root != nullptr && root(49.0) == 7.0, "dlsym");
  dlclose(library);
}

void signals() {
  std::signal(SIGUSR1, [](int) { caught += 1; });
  kill(getpid(), SIGUSR1);
  raise(SIGUSR1);
  check(caught == 2, "signal handlers");
  caught = 0;
}

// As some libraries do to find things out. Moving it back may fail, but never take what others have.
void program_break() {
  const auto before = static_cast<char*>(sbrk(0));
  const bool up = sbrk(4096) != reinterpret_cast<void*>(-1);
  if (std::getenv("URAKATA_SPACE_AT") == nullptr) return;
  sbrk(-4096);
  check(!up && sbrk(0) == before, "the program break");
}

void mappings() {
  for (int i = 0; i < 200; ++i) {
    auto* const place =
        static_cast<char*>(mmap(nullptr, 1 << 18, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    check(place != MAP_FAILED, "mmap");
    place[5000] = 'm';
    check(munmap(place, 1 << 18) == 0, "munmap");
  }
}

}  // namespace

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 3;
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 4; ++i) threads.emplace_back(storm, i + 1 + 10 * static_cast<unsigned>(round));
    exceptions();
    openmp();
    children();
    for (std::thread& one : threads) one.join();
    check(mine == 7, "thread-local storage");
    libraries();
    signals();
    mappings();
    program_break();
  }
  std::printf("right\n");
  return 0;
}
