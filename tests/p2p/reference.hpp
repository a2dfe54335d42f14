// SPDX-License-Identifier: BSD-3-Clause
// MPI's matching rules in their plainest form, to compare an endpoint with: two lists, searched from the front.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <optional>

#include "p2p/slot.hpp"

namespace urakata::p2p::test {

class Reference {
 public:
  struct Message {
    Envelope envelope;
    std::uint64_t number;
  };
  struct Receive {
    Envelope pattern;
    std::uint64_t number;
  };

  // The number of the receive that takes the message, if one is posted.
  std::optional<std::uint64_t> arrive(const Message& message) {
    const auto it = std::find_if(posted_.begin(), posted_.end(),
                                 [&](const Receive& r) { return fits(r.pattern, message.envelope); });
    if (it == posted_.end()) {
      unexpected_.push_back(message);
      return std::nullopt;
    }
    const std::uint64_t number = it->number;
    posted_.erase(it);
    return number;
  }

  // The message that the receive takes, if one is there.
  std::optional<Message> post(const Receive& receive) {
    if (const auto found = find(receive.pattern)) {
      unexpected_.remove_if([&](const Message& m) { return m.number == found->number; });
      return found;
    }
    posted_.push_back(receive);
    return std::nullopt;
  }

  std::optional<Message> find(const Envelope& pattern) const {
    const auto it = std::find_if(unexpected_.begin(), unexpected_.end(),
                                 [&](const Message& m) { return fits(pattern, m.envelope); });
    return it == unexpected_.end() ? std::nullopt : std::optional(*it);
  }

  bool cancel(std::uint64_t number) {
    return std::erase_if(posted_, [&](const Receive& r) { return r.number == number; }) != 0;
  }

 private:
  static bool fits(const Envelope& pattern, const Envelope& message) {
    if (pattern.context != message.context) return false;
    if (pattern.source != kAnySource && pattern.source != message.source) return false;
    return pattern.tag == kAnyTag || pattern.tag == message.tag;
  }

  std::list<Message> unexpected_;
  std::list<Receive> posted_;
};

}  // namespace urakata::p2p::test
