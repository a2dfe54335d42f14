// SPDX-License-Identifier: BSD-3-Clause
#include "transport/stripes/width.hpp"

#include <algorithm>

namespace urakata::transport {

void Width::carried(std::uint32_t connections, std::uint64_t bytes, std::uint64_t ns) {
  if (fixed_ || ns == 0) return;
  // What was on its way so when the trial ended.
  if (rest_ns_ != 0 && connections > connections_) rest_ns_ += kRest * ns;
  if (connections != now() || (!trying_ && connections_ == kMost)) return;
  if (rest_ns_ != 0) {
    rest_ns_ -= std::min(rest_ns_, ns);
    return;
  }
  if (trying_) tried_ns_ += ns;
  if (settling_ns_ < kSettle) {
    settling_ns_ += ns;
    return;
  }
  bytes_ += bytes;
  ns_ += ns;
  if (ns_ < kWindow || bytes_ < kLeastBytes) return;
  const double rate = static_cast<double>(bytes_) / static_cast<double>(ns_);
  settling_ns_ = bytes_ = ns_ = 0;
  judge(rate);
}

void Width::judge(double rate) {
  if (!trying_) {
    narrow_rate_ = rate;
    trying_ = true;
    return;
  }
  if (rate < kGain * narrow_rate_) return give_up();
  trying_ = false;
  if (++rounds_ < kRounds) return;
  connections_ *= 2;
  rounds_ = 0;
  tried_ns_ = mixed_ns_ = 0;
}

void Width::mixed(std::uint32_t connections, std::uint64_t ns) {
  if (!trying_ || connections != now()) return;
  tried_ns_ += ns;
  mixed_ns_ += ns;
  if (mixed_ns_ >= kMixed) give_up();
}

void Width::give_up() {
  if (!trying_) return;
  rest_ns_ = kRest * std::max(tried_ns_, kSettle + kWindow);
  tried_ns_ = mixed_ns_ = 0;
  settling_ns_ = bytes_ = ns_ = 0;
  rounds_ = 0;
  trying_ = false;
}

}  // namespace urakata::transport
