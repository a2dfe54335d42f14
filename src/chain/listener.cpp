// SPDX-License-Identifier: BSD-3-Clause
#include "chain/listener.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "base/socket_watch.hpp"
#include "base/system_error.hpp"

namespace urakata::chain {
namespace {

constexpr const char* kPurpose = "operations that the kernel runs";
constexpr std::size_t kMostPending = 64;
constexpr std::uint64_t kHandshakeTimeout = 2'000'000'000;  // ns, from accept() to the whole of the handshake
constexpr int kPoll = 50;                                   // ms

int milliseconds_until(std::uint64_t until_ns) {
  const std::uint64_t now = now_ns();
  return now >= until_ns ? 0 : static_cast<int>(std::min<std::uint64_t>((until_ns - now) / 1'000'000 + 1, 60'000));
}

void ready_for_operations(int socket, std::uint64_t timeout_ns) {
  transport::set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  transport::keep_alive(socket, timeout_ns);
  fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) & ~O_NONBLOCK);  // otherwise io_uring would not let requests wait
}

// Every socket is left out of SocketWatch as soon as it is made, so that no child that is forked meanwhile has it.
void close_socket(int socket) {
  SocketWatch::closed(socket);
  close(socket);
}

}  // namespace

Result<std::unique_ptr<Listener>> Listener::open(std::int32_t rank, transport::Secret secret, std::uint64_t timeout_ns,
                                                 std::span<const InterfaceAddress> only) {
  auto opened = transport::open_listeners(kPurpose, only);
  if (!opened.ok()) return opened.error();
  std::unique_ptr<Listener> made(new Listener(rank, secret, timeout_ns));
  made->listeners_ = std::move(*opened);
  return made;
}

Listener::~Listener() {
  for (const Pending& one : pending_) close_socket(one.socket);
  for (const auto& [key, socket] : accepted_) close_socket(socket);
  transport::close_listeners(listeners_.descriptors);
}

Result<int> Listener::connect_to(const Member& member, std::uint64_t until_ns) {
  const int made = socket(member.address.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0) return system_error("cannot make a socket");
  SocketWatch::leave_out(made);
  const auto failed = [&](const char* what) {
    const Error error = system_error(std::string("cannot ") + what + " rank " + std::to_string(member.rank));
    close_socket(made);
    return error;
  };
  if (::connect(made, reinterpret_cast<const sockaddr*>(&member.address.address), member.address.length) != 0) {
    if (errno != EINPROGRESS) return failed("connect to");
    pollfd room{.fd = made, .events = POLLOUT, .revents = 0};
    // A rank accepts others while it connects: otherwise the ranks after it would fill its accept queue.
    while (poll(&room, 1, std::min(kPoll, milliseconds_until(until_ns))) <= 0 && now_ns() < until_ns) accept_for(0);
    int code = room.revents == 0 ? ETIMEDOUT : 0;
    socklen_t size = sizeof code;
    if (code == 0) getsockopt(made, SOL_SOCKET, SO_ERROR, &code, &size);
    errno = code;
    if (code != 0) return failed("connect to");
  }
  const Handshake handshake{.low = secret_.low, .high = secret_.high, .rank = rank_, .context = member.context};
  if (send(made, &handshake, sizeof handshake, MSG_NOSIGNAL) != sizeof handshake) return failed("shake hands with");
  return made;
}

// Waits until a connection or a handshake comes, for that time at most. Then takes all that have come.
void Listener::accept_for(int milliseconds) {
  std::vector<pollfd> watched;
  {
    const LockGuard guard(lock_);
    // If no descriptor was left for a connection, the listener stays readable and would end the wait at once.
    if (!std::exchange(full_, false)) {
      for (const int one : listeners_.descriptors) watched.push_back({.fd = one, .events = POLLIN, .revents = 0});
    }
    for (const Pending& one : pending_) watched.push_back({.fd = one.socket, .events = POLLIN, .revents = 0});
  }
  poll(watched.data(), watched.size(), milliseconds);
  const LockGuard guard(lock_);
  for (const int listener : listeners_.descriptors) {
    for (std::size_t i = 0; i < kMostPending; ++i) {  // further ones: in the next call
      const int made = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (made < 0) {
        full_ = transport::cannot_accept(errno, kPurpose) || full_;
        break;
      }
      SocketWatch::leave_out(made);
      pending_.push_back({.socket = made, .since_ns = now_ns()});
    }
  }
  std::erase_if(pending_, [&](const Pending& one) URAKATA_REQUIRES(lock_) {
    Handshake handshake;
    const ssize_t here = recv(one.socket, &handshake, sizeof handshake, MSG_PEEK);
    if (here == sizeof handshake) {
      // Takes the handshake only: the bytes after it belong to operations.
      const bool ours = recv(one.socket, &handshake, sizeof handshake, 0) == sizeof handshake &&
                        transport::Secret{.low = handshake.low, .high = handshake.high} == secret_ &&
                        accepted_.try_emplace({handshake.context, handshake.rank}, one.socket).second;
      if (!ours) close_socket(one.socket);
      return true;
    }
    const bool waits = here > 0 || (here < 0 && (errno == EAGAIN || errno == EINTR));
    if (waits && now_ns() - one.since_ns < kHandshakeTimeout) return false;
    close_socket(one.socket);
    return true;
  });
  limit_pending();
}

// If more than kMostPending connections wait for their handshake, closes the oldest that have sent nothing and are not
// young. If there are more than most_unauthenticated(), closes the oldest of any kind.
void Listener::limit_pending() {
  const std::size_t most = transport::most_unauthenticated();
  const std::uint64_t now = now_ns();
  std::size_t count = pending_.size();
  std::erase_if(pending_, [&](const Pending& one) {
    if (count <= kMostPending) return false;
    char byte = 0;
    const bool silent = now - one.since_ns >= transport::kFirstBytesTime && recv(one.socket, &byte, 1, MSG_PEEK) <= 0;
    if (count <= most && !silent) return false;
    close_socket(one.socket);
    --count;
    return true;
  });
}

Result<std::vector<Peer>> Listener::connect(std::span<const Member> members, std::size_t own) {
  const std::uint64_t until = now_ns() + timeout_ns_;
  std::vector<Peer> peers(members.size());
  const auto failed = [&](Error error) {
    for (const Peer& peer : peers) {
      if (peer.socket >= 0) close_socket(peer.socket);
    }
    return error;
  };
  for (std::size_t i = 0; i < members.size(); ++i) {
    peers[i].rank = members[i].rank;
    if (i >= own) continue;
    const auto made = connect_to(members[i], until);
    if (!made.ok()) return failed(made.error());
    peers[i].socket = *made;
  }
  for (std::size_t missing = members.size() - 1 - own; missing != 0;) {
    {
      const LockGuard guard(lock_);
      for (std::size_t i = own + 1; i < members.size(); ++i) {
        const auto found = accepted_.find({members[own].context, members[i].rank});
        if (peers[i].socket >= 0 || found == accepted_.end()) continue;
        peers[i].socket = found->second;
        accepted_.erase(found);
        --missing;
      }
    }
    if (missing == 0) break;
    if (now_ns() >= until) {
      errno = ETIMEDOUT;
      return failed(system_error("cannot connect all ranks"));
    }
    accept_for(kPoll);
  }
  for (const Peer& peer : peers) {
    if (peer.socket >= 0) ready_for_operations(peer.socket, timeout_ns_);
  }
  return peers;
}

}  // namespace urakata::chain
