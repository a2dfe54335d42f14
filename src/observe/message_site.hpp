// SPDX-License-Identifier: BSD-3-Clause
// A call site of the program's own messages: how many, how large, and how long the program waited for them.
//
// Thread-safety. The key is constant after construction. All counters are relaxed atomics, as in call_site.hpp. Some
// facts are not seen of every message: the size of a non-blocking receive that the MPI library carries, for instance.
// `sized`, `waited` or `timed` are then less than `messages`.
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
  std::string_view carrier = {};    // "space", "wire", "native", "itself"; or several: "space or wire"
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

  // What happens to a message of this site. Sizes in bytes, times in ns.
  void started() { add(messages, 1); }
  void moved(std::uint64_t size) {
    add(sized, 1);
    add(bytes, size);
  }
  void waited_for(std::uint64_t ns) { add(waited_ns, ns); }  // by one call; any number of calls for a message
  void ended() { add(waited, 1); }                           // all waiting for it was seen
  void brief() { add(done_at_once, 1); }                     // it was over when the starting call returned
  // The transfer's life was seen, and is over: see message_overlap.hpp.
  void transferred(std::uint64_t life, std::uint64_t gap, std::uint64_t overlapped) {
    add(timed, 1);
    add(life_ns, life);
    add(gap_ns, gap);
    add(overlapped_ns, overlapped);
  }

  std::atomic<std::uint64_t> messages{0};
  std::atomic<std::uint64_t> sized{0};          // number of messages whose payload is in `bytes`
  std::atomic<std::uint64_t> bytes{0};          // sum of payloads
  std::atomic<std::uint64_t> waited{0};         // number of messages for which all waiting is in `waited_ns`
  std::atomic<std::uint64_t> waited_ns{0};      // inside blocking calls, waits and tests; each moment counts once
  std::atomic<std::uint64_t> done_at_once{0};   // number of messages that were over when their starting call returned
  std::atomic<std::uint64_t> timed{0};          // number of other messages, whose times the following counters sum up
  std::atomic<std::uint64_t> life_ns{0};        // duration of the transfer
  std::atomic<std::uint64_t> gap_ns{0};         // upper bound of its part that was hidden behind computation
  std::atomic<std::uint64_t> overlapped_ns{0};  // estimate of that part (`hidden` in message_overlap.hpp)

 private:
  std::string operation_, carrier_;
  const void* address_;
  std::uint32_t number_;
};

}  // namespace urakata::observe
