// SPDX-License-Identifier: BSD-3-Clause
// Processes that have stripes to each other, for their tests.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "loopback.hpp"
#include "transport/stripes/stripes.hpp"
#include "transport/stripes/stripes_port.hpp"

namespace urakata::transport {

// The processes of a job, each at a site of its own.
struct Job {
  Failures failures{kFailure};
  std::vector<std::unique_ptr<Wire>> wires;
  std::vector<std::unique_ptr<Stripes>> stripes;
  std::vector<std::unique_ptr<StripesPort>> ports;

  explicit Job(std::int32_t ranks, const Stripes::Settings& settings = {}) {
    wires = wires_of(ranks, failures);
    for (auto& wire : wires) {
      auto opened = Stripes::open(*wire, failures, settings);
      if (!opened.ok()) ADD_FAILURE() << opened.error().message;
      stripes.push_back(std::move(*opened));
      ports.push_back(std::make_unique<StripesPort>(*stripes.back()));
    }
  }
  // Breaks one of the stripes that rank `from` has made to rank `to`, if it has any: `which` counts them.
  void cut(std::size_t to, unsigned which) const {
    const std::vector<int> found = sockets_to(*wires[to]);
    if (!found.empty()) shutdown(found[which % found.size()], SHUT_RDWR);
  }
};

inline std::vector<std::byte> filled(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(size);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

// Until so many operations have ended well.
inline void finish(Job& job, std::size_t open) {
  while (open != 0) {
    for (auto& port : job.ports) {
      for (const Completion& done : port->poll()) {
        EXPECT_EQ(done.error, 0);
        --open;
      }
    }
  }
}

// A message that goes from rank 0 to rank 1, to its end.
inline void pass_on(Job& job, std::size_t bytes, const Streams& streams = {}) {
  std::vector<std::byte> sent = filled(bytes, 1), room(bytes);
  std::size_t open = 0;
  bool finished = false;
  job.ports[0]->send(
      {.address = sent.data(), .bytes = bytes, .layout = nullptr, .peer = 1, .tag = 5, .streams = streams}, {},
      &finished);
  open += finished ? 0U : 1U;
  job.ports[1]->recv({.address = room.data(), .bytes = bytes, .layout = nullptr, .peer = 0, .tag = 5}, {}, &finished);
  open += finished ? 0U : 1U;
  finish(job, open);
  while (!job.stripes[0]->settled()) job.ports[1]->poll();
  EXPECT_TRUE(sent == room);
}

}  // namespace urakata::transport
