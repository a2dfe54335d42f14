// SPDX-License-Identifier: BSD-3-Clause
// urakata-spaced: the space daemon, whose address space the ranks of a node share. Only urakata-exec --space starts it.
#include <sys/socket.h>

#include <cstdio>

#include "space/break_guard.hpp"
#include "space/meeting.hpp"
#include "space/space_daemon.hpp"

namespace {

bool is_socket(int number) {
  int kind = 0;
  socklen_t bytes = sizeof kind;
  return getsockopt(number, SOL_SOCKET, SO_TYPE, &kind, &bytes) == 0 && kind == SOCK_SEQPACKET;
}

// Guards the program break before any constructor runs, since some of them allocate.
int break_failure = 0;
void guard_first() { break_failure = urakata::space::guard_break(); }
[[gnu::section(".preinit_array"), gnu::used]] void (*const first)() = &guard_first;

}  // namespace

int main() {
  namespace space = urakata::space;
  if (!is_socket(space::kListeningDescriptor) || !is_socket(space::kFounderDescriptor)) {
    std::fputs("urakata-spaced is started by urakata-exec --space, and not by hand\n", stderr);
    return 2;
  }
  return space::run_space_daemon(space::kListeningDescriptor, space::kFounderDescriptor, break_failure);
}
