// SPDX-License-Identifier: BSD-3-Clause
// What the link by transport `wire` is told when it is opened; constant from then on.
#pragma once

#include <atomic>
#include <cstdint>

namespace urakata::transport {

struct LinkSettings {
  std::uint64_t eager_bytes = 64UL << 10;
  std::uint64_t credit = 1UL << 20;  // for each peer; more than 4/3 of eager_bytes + kFrame: all become eager again
  // While callers wait, so many, can_progress() always says yes and poll() asks the kernel. Else, and where this is
  // nullptr (whoever waits for a message of a space asks all the time), it is asked now and then.
  const std::atomic<unsigned>* waiting = nullptr;
  // Of how many calls of can_progress() one asks the kernel then; nullptr: each does. More than one where callers ask
  // somebody else as well, who is likelier to have what they wait for.
  unsigned (*turns)() = nullptr;
  // For long payload to a rank at this site, if there is carry_by(); 0: as many as pay.
  std::uint32_t connections = 1;
};

}  // namespace urakata::transport
