#include "space/fork_guard.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>

#include "space/territory.hpp"

namespace urakata::space {
namespace {

constinit Membership home{nullptr, 0};  // without a registry in a forked copy
sigset_t before;                        // the forking thread's; whoever has the turn uses it

// Signals wait: a handler that forks would wait for the turn of the thread that it has interrupted.
void prepare() {
  if (home.registry == nullptr) return;
  sigset_t all;
  sigset_t present;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &present);
  if (take_turn(home.registry->forking, getpid())) {
    advise_own(*home.registry, home.slot, MADV_DOFORK);
    advise_others(*home.registry, home.slot, MADV_DOFORK);
  }
  before = present;
  advise_others(*home.registry, home.slot, MADV_DONTFORK);
}

void in_parent() {
  if (home.registry == nullptr) return;
  advise_others(*home.registry, home.slot, MADV_DOFORK);
  const sigset_t present = before;
  end_turn(home.registry->forking);
  pthread_sigmask(SIG_SETMASK, &present, nullptr);
}

void in_child() {
  if (home.registry == nullptr) return;
  home.registry = nullptr;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

void leave_others_out_of_forks(const Membership& membership) {
  home = membership;
  pthread_atfork(&prepare, &in_parent, &in_child);
}

}  // namespace urakata::space
