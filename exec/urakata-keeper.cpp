// urakata-keeper: the process whose address space the ranks of a node share. Started by urakata-exec --space alone.
#include <sys/socket.h>

#include <cstdio>

#include "space/keeper.hpp"
#include "space/meeting.hpp"

namespace {

bool is_socket(int number) {
  int kind = 0;
  socklen_t bytes = sizeof kind;
  return getsockopt(number, SOL_SOCKET, SO_TYPE, &kind, &bytes) == 0 && kind == SOCK_SEQPACKET;
}

}  // namespace

int main() {
  namespace space = urakata::space;
  if (!is_socket(space::kListeningDescriptor) || !is_socket(space::kFounderDescriptor)) {
    std::fputs("urakata-keeper is started by urakata-exec --space, and not by hand\n", stderr);
    return 2;
  }
  return space::keep(space::kListeningDescriptor, space::kFounderDescriptor);
}
