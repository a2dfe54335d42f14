// SPDX-License-Identifier: BSD-3-Clause
#include "transport/wire/accepted_queue.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

namespace urakata::transport {

AcceptedQueue::~AcceptedQueue() {
  waiting_.clear();
  if (event_ >= 0) close(event_);
}

bool AcceptedQueue::open() {
  event_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return event_ >= 0;
}

void AcceptedQueue::add(AcceptedConnection&& one) {
  waiting_.push_back(std::move(one));
  const std::uint64_t word = 1;
  [[maybe_unused]] const auto written = write(event_, &word, sizeof word);
}

std::vector<AcceptedConnection> AcceptedQueue::take() {
  std::uint64_t word = 0;
  [[maybe_unused]] const auto got = read(event_, &word, sizeof word);
  return std::exchange(waiting_, {});
}

}  // namespace urakata::transport
