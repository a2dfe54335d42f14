// SPDX-License-Identifier: BSD-3-Clause
#include "link_control.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace urakata {
namespace {

constexpr std::size_t kMostCallers = 32;
constexpr int kAnswerBuffer = 1 << 20;  // an answer must fit whole: 500 flows are 200 KB

bool of_own_user(int connection) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.uid == geteuid();
}

// False: the caller has gone.
bool serve_one(int caller, const LinkControl::Answer& answer) {
  std::array<char, 4096> command;
  const ssize_t got = recv(caller, command.data(), command.size(), MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  const std::string said = answer({command.data(), static_cast<std::size_t>(got)});
  return send(caller, said.data(), said.size(), MSG_DONTWAIT | MSG_NOSIGNAL) == static_cast<ssize_t>(said.size());
}

}  // namespace

Result<LinkControl> LinkControl::open(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (std::strlen(path) >= sizeof address.sun_path) {
    return Error{"the control socket " + std::string(path) + " has too long a name: use a shorter folder"};
  }
  std::strcpy(address.sun_path, path);
  const int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0 || bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener, static_cast<int>(kMostCallers)) != 0) {
    Error error{"making the control socket " + std::string(path) + ": " + std::strerror(errno)};
    if (listener >= 0) close(listener);
    return error;
  }
  return LinkControl(listener);
}

LinkControl::LinkControl(LinkControl&& other) noexcept : waits_(std::exchange(other.waits_, {})) {}

LinkControl::~LinkControl() {
  for (const pollfd& wait : waits_) close(wait.fd);
}

void LinkControl::accept_all() {
  while (true) {
    const int caller = accept4(waits_[0].fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (caller < 0) return;
    if (!of_own_user(caller) || waits_.size() > kMostCallers) {
      close(caller);
      continue;
    }
    setsockopt(caller, SOL_SOCKET, SO_SNDBUF, &kAnswerBuffer, sizeof kAnswerBuffer);
    waits_.push_back({caller, POLLIN, 0});
  }
}

void LinkControl::serve(const Answer& answer) {
  accept_all();
  const auto gone = [&](const pollfd& wait) {
    if (wait.fd == waits_[0].fd || serve_one(wait.fd, answer)) return false;
    close(wait.fd);
    return true;
  };
  std::erase_if(waits_, gone);
}

}  // namespace urakata
