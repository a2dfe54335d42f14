// SPDX-License-Identifier: BSD-3-Clause
// What the link by transport `wire` is told when it is opened; constant from then on.
#pragma once

#include <atomic>
#include <cstdint>

namespace urakata::transport {

struct LinkSettings {
  std::uint64_t eager_bytes = 64UL << 10;
  std::uint64_t credit = 1UL << 20;  // for each peer; more than 4/3 of eager_bytes + kFrame: all become eager again
  // Number of callers that wait. While it is not 0, at least one of turns() calls of can_progress() returns true, else
  // one of 16; poll() then asks the kernel. nullptr (in a space, where callers that wait call can_progress() all the
  // time): one of 16 calls asks the kernel itself.
  const std::atomic<unsigned>* waiting = nullptr;
  // See `waiting`; nullptr: 1. More than 1 if callers also poll another source, which is likelier to have what they
  // wait for.
  unsigned (*turns)() = nullptr;
  // For long payload to a rank at this site, if there is carry_by(); 0: as many as pay.
  std::uint32_t connections = 1;
};

}  // namespace urakata::transport
