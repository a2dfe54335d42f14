// SPDX-License-Identifier: BSD-3-Clause
#include "chain/gate.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

namespace urakata::chain {
namespace {

// Number of signals that is enough for all waits of an operation, however many there are.
constexpr std::uint64_t kAllThrough = std::uint64_t{1} << 32U;

}  // namespace

Gate::~Gate() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool Gate::make() {
  if (descriptor_ < 0) descriptor_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
  return descriptor_ >= 0;
}

void Gate::take() {
  std::uint64_t word = 0;
  [[maybe_unused]] const auto got = read(descriptor_, &word, sizeof word);
}

void Gate::let_all_through() {
  if (descriptor_ < 0) return;
  [[maybe_unused]] const auto written = write(descriptor_, &kAllThrough, sizeof kAllThrough);
}

}  // namespace urakata::chain
