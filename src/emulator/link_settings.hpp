// SPDX-License-Identifier: BSD-3-Clause
// The settings of one direction of an emulated long link, and rules for single flows.
#pragma once

#include <cstdint>
#include <optional>

#include "emulator/packet.hpp"

namespace urakata::emulator {

struct Settings {
  std::uint64_t delay_ns = 0;
  std::uint64_t rate = 0;        // bits a second of IP packets, all flows together; 0: no limit
  std::uint64_t queue = 0;       // bytes that may wait for `rate`; more is dropped
  std::uint64_t flow_rate = 0;   // bits a second of each flow; 0: no limit
  std::uint64_t flow_queue = 0;  // bytes of one flow that may wait for the flow's rate; more is dropped
  double loss = 0;               // probability for each segment
};

// The flows that a rule applies to. 0 stands for any address or port. Byte order as in FlowKey.
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

// A rule sets rate or cut of the flows that match its pattern, or both. If several rules match a flow, the last one
// that sets a value decides it.
struct FlowRule {
  FlowPattern pattern;
  std::optional<std::uint64_t> rate;  // as Settings::flow_rate
  std::optional<bool> cut;
};

}  // namespace urakata::emulator
