// SPDX-License-Identifier: BSD-3-Clause
#include "transport/stripes/completion_queue.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

namespace urakata::transport {

CompletionQueue::CompletionQueue() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

CompletionQueue::~CompletionQueue() {
  if (event_ >= 0) close(event_);
}

void CompletionQueue::complete(const Ticket& ticket, int error) {
  finished_.push_back({ticket, error});
  if (polled_ || told_) return;
  told_ = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(event_, &one, sizeof one);
}

void CompletionQueue::end_poll(std::vector<Completion>& reported) {
  if (told_) {
    told_ = false;
    std::uint64_t word = 0;
    [[maybe_unused]] const auto got = read(event_, &word, sizeof word);
  }
  reported.swap(finished_);
  polled_ = false;
}

}  // namespace urakata::transport
