// SPDX-License-Identifier: BSD-3-Clause
// Finds out by trying whether the kernel can run chains: versions and settings say too little.
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>

#include "base/clock.hpp"
#include "chain/ring.hpp"

namespace urakata::chain {
namespace {

constexpr std::uint64_t kTimeout = 1'000'000'000;  // ns; nothing leaves this process

// Descriptors that the destructor closes.
class Descriptors {
 public:
  ~Descriptors() {
    for (const int one : {sockets[0], sockets[1], gate}) {
      if (one >= 0) close(one);
    }
  }
  std::array<int, 2> sockets = {-1, -1};
  int gate = -1;
};

// The value of the next result; -ETIMEDOUT if none comes. `number`: of its request.
std::int32_t next(Ring& ring, std::uint64_t& number) {
  Ring::Outcome outcome;
  for (const std::uint64_t begin = now_ns(); !ring.take(outcome);) {
    if (now_ns() - begin > kTimeout) return -ETIMEDOUT;
  }
  number = outcome.number;
  return outcome.value;
}

}  // namespace

std::string why_no_chains() {
  const std::string old = "this kernel's io_uring lacks what chains need (Linux 5.19 and later have it): ";
  auto made = Ring::open(1);
  if (!made.ok()) return made.error().message;
  Ring& ring = **made;
  Descriptors our;
  our.gate = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
  if (our.gate < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, our.sockets.data()) != 0) {
    return "the limit of descriptors is too low (ulimit -n)";
  }
  std::array<char, 8> in{};
  std::uint64_t one = 1;
  std::uint64_t got = 0;
  constexpr std::uint32_t kWord = sizeof one;
  // One chain: receives eight bytes, then signals. Another chain waits for the signal.
  ring.put({.kind = Ring::Kind::receive,
            .linked = true,
            .descriptor = our.sockets[0],
            .address = in.data(),
            .bytes = 8,
            .number = 1});
  ring.put({.kind = Ring::Kind::write, .descriptor = our.gate, .address = &one, .bytes = kWord, .number = 2});
  if (ring.submit() != 2) return old + "a chain is not taken";
  ring.put({.kind = Ring::Kind::read, .descriptor = our.gate, .address = &got, .bytes = kWord, .number = 3});
  if (ring.submit() != 1) return old + "a second chain is not taken";
  if (write(our.sockets[1], "1234", 4) != 4) return old + "no bytes pass";
  std::uint64_t number = 0;
  Ring::Outcome early;
  for (int polls = 0; polls < 100; ++polls) {
    if (ring.take(early)) return old + "a receive ends before all of its bytes are there";
  }
  if (write(our.sockets[1], "5678", 4) != 4) return old + "no bytes pass";
  if (next(ring, number) != 8 || number != 1) return old + "a receive does not wait for all of its bytes";
  if (next(ring, number) != 8 || number != 2) return old + "a chain does not go on by itself";
  if (next(ring, number) != 8 || number != 3) return old + "a gate does not open";
  return "";
}

}  // namespace urakata::chain
