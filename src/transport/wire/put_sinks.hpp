// SPDX-License-Identifier: BSD-3-Clause
// The sinks of this process (puts.hpp), by number.
//
// Thread-safety: under the Wire's lock.
#pragma once

#include <cstdint>
#include <map>

#include "transport/wire/puts.hpp"

namespace urakata::transport {

class PutSinks {
 public:
  // Returns its number, which no other sink gets.
  std::int32_t add(PutSink& sink) {
    sinks_.emplace(next_, &sink);
    return next_++;
  }
  void remove(std::int32_t number) { sinks_.erase(number); }
  // nullptr: no sink has this number (any more).
  PutSink* find(std::int32_t number) const {
    const auto found = sinks_.find(number);
    return found != sinks_.end() ? found->second : nullptr;
  }
  // Tells all sinks that the rank is lost. Returns whether one of them still needed it.
  bool lost(std::int32_t rank) const {
    bool wanted = false;
    for (const auto& [number, sink] : sinks_) wanted = sink->lost(rank) || wanted;
    return wanted;
  }

 private:
  std::map<std::int32_t, PutSink*> sinks_;
  std::int32_t next_ = 0;
};

}  // namespace urakata::transport
