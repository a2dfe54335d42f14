#include "transport/width.hpp"

#include <algorithm>

namespace urakata::transport {

bool Width::carried(std::uint32_t connections, std::uint64_t bytes, std::uint64_t ns) {
  if (fixed_ || connections != now() || ns == 0 || (!trying_ && connections_ == kMost)) return false;
  if (rest_ns_ != 0) {
    rest_ns_ -= std::min(rest_ns_, ns);
    return false;
  }
  if (settling_ns_ < kSettle) {
    settling_ns_ += ns;
    return false;
  }
  bytes_ += bytes;
  ns_ += ns;
  if (ns_ < kWindow || bytes_ < kLeastBytes) return false;
  const double rate = static_cast<double>(bytes_) / static_cast<double>(ns_);
  settling_ns_ = bytes_ = ns_ = 0;
  return judge(rate);
}

bool Width::judge(double rate) {
  if (!trying_) {
    narrow_rate_ = rate;
    return trying_ = true;
  }
  if (rate < kGain * narrow_rate_) {
    rest_ns_ = kRest * 2 * (kSettle + kWindow);
    rounds_ = 0;
    trying_ = false;
    return true;
  }
  trying_ = false;
  if (++rounds_ < kRounds) return true;
  connections_ *= 2;
  rounds_ = 0;
  return true;
}

}  // namespace urakata::transport
