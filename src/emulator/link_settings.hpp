// SPDX-License-Identifier: BSD-3-Clause
// What can be set of a long link, for each of its two directions, and for flows that go another way than the rest.
#pragma once

#include <cstdint>
#include <optional>

#include "emulator/packet.hpp"

namespace urakata::emulator {

struct Settings {
  std::uint64_t delay_ns = 0;
  std::uint64_t rate = 0;        // of all flows together, bits a second of IP packets; 0: no limit
  std::uint64_t queue = 0;       // bytes that may wait for the link's rate; more is dropped
  std::uint64_t flow_rate = 0;   // of each flow, as `rate`
  std::uint64_t flow_queue = 0;  // bytes of one flow that may wait for its rate
  double loss = 0;               // probability for each segment
};

// The flows that a rule is about: 0 stands for any.
struct FlowPattern {
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;

  bool operator==(const FlowPattern&) const = default;

  bool takes(const FlowKey& flow) const {
    return (source == 0 || source == flow.source) && (destination == 0 || destination == flow.destination) &&
           (source_port == 0 || source_port == flow.source_port) &&
           (destination_port == 0 || destination_port == flow.destination_port);
  }
};

// Where several rules take a flow, the later one says each of the two things, as far as it says it.
struct FlowRule {
  FlowPattern pattern;
  std::optional<std::uint64_t> rate;  // as Settings::flow_rate
  std::optional<bool> cut;
};

}  // namespace urakata::emulator
