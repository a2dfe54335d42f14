// SPDX-License-Identifier: BSD-3-Clause
// A call site of the program's own messages: how many, how large, and how long the program waited for them.
//
// Contract. The key is constant after construction. All counters are relaxed atomics, as in call_site.hpp. Where
// something is not seen (a non-blocking receive that the MPI library carries does not tell how much came), `sized`,
// `waited` or `timed` stay behind `messages`.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "observe/sum.hpp"

namespace urakata::observe {

struct MessageKey {
  std::string_view operation = {};  // "Isend", as in the standard without the prefix
  const void* address = nullptr;    // the call's return address in the program
  std::string_view carrier = {};    // "space", "wire", "native", those that are there joined by "or", or "itself"
};

class MessageSite {
 public:
  MessageSite(const MessageKey& key, std::uint32_t number)
      : operation_(key.operation), carrier_(key.carrier), address_(key.address), number_(number) {}
  MessageSite(const MessageSite&) = delete;
  MessageSite& operator=(const MessageSite&) = delete;

  MessageKey key() const { return {operation_, address_, carrier_}; }
  std::uint32_t number() const { return number_; }  // 0, 1, ... in the order of first sight
  bool matches(const MessageKey& key) const {
    return address_ == key.address && operation_ == key.operation && carrier_ == key.carrier;
  }

  void started() { add(messages, 1); }
  void moved(std::uint64_t size) {
    add(sized, 1);
    add(bytes, size);
  }
  void waited_for(std::uint64_t ns) { add(waited_ns, ns); }  // any number of times for one message
  void ended() { add(waited, 1); }                           // all of its waiting was seen
  void brief() { add(done_at_once, 1); }                     // it was over when its starting call was
  // A message has been transferred whose life was seen: see message_overlap.hpp. Times in ns.
  void transferred(std::uint64_t life, std::uint64_t gap, std::uint64_t overlapped) {
    add(timed, 1);
    add(life_ns, life);
    add(gap_ns, gap);
    add(overlapped_ns, overlapped);
  }

  std::atomic<std::uint64_t> messages{0};
  std::atomic<std::uint64_t> sized{0};  // of them: those that `bytes` sums up
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint64_t> waited{0};     // of them: those whose waiting is all in `waited_ns`
  std::atomic<std::uint64_t> waited_ns{0};  // inside blocking calls, waits and tests; a moment counts for one message
  std::atomic<std::uint64_t> done_at_once{0};  // of them: had nothing to hide
  std::atomic<std::uint64_t> timed{0};         // of the rest: those of which the following are sums
  std::atomic<std::uint64_t> life_ns{0};
  std::atomic<std::uint64_t> gap_ns{0};         // the most that can have been hidden of it
  std::atomic<std::uint64_t> overlapped_ns{0};  // the least

 private:
  std::string operation_, carrier_;
  const void* address_;
  std::uint32_t number_;
};

}  // namespace urakata::observe
