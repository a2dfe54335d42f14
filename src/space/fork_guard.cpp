#include "space/fork_guard.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>

#include "space/territory.hpp"
#include "space/turn.hpp"

namespace urakata::space {
namespace {

constinit Membership own_task{nullptr, 0};  // without a registry in a forked copy
sigset_t before;                            // the forking thread's; whoever has the turn uses it

// Signals wait: a handler that forks would wait for the turn of the thread that it has interrupted.
void prepare() {
  if (own_task.registry == nullptr) return;
  sigset_t all;
  sigset_t present;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &present);
  if (take_turn(own_task.registry->forking, getpid())) {
    advise_own(own_task, MADV_DOFORK);
    advise_others(own_task, MADV_DOFORK);
  }
  before = present;
  advise_others(own_task, MADV_DONTFORK);
}

void in_parent() {
  if (own_task.registry == nullptr) return;
  advise_others(own_task, MADV_DOFORK);
  const sigset_t present = before;
  end_turn(own_task.registry->forking);
  pthread_sigmask(SIG_SETMASK, &present, nullptr);
}

void in_child() {
  if (own_task.registry == nullptr) return;
  own_task.registry = nullptr;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

void leave_others_out_of_forks(const Membership& membership) {
  own_task = membership;
  pthread_atfork(&prepare, &in_parent, &in_child);
}

}  // namespace urakata::space
