// SPDX-License-Identifier: BSD-3-Clause
// The rows of the option table by number, and the words of their choices; for the files about options only.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "base/options/options.hpp"

namespace urakata::table {

inline constexpr std::string_view kPrefix = "URAKATA_";  // of the rows' names in the environment

inline constexpr auto kEngines =
    std::to_array<std::string_view>({"native", "poll", "thread", "kernel"});                       // as EngineKind
inline constexpr auto kPlacements = std::to_array<std::string_view>({"auto", "spare", "shared"});  // as PlacementWish
inline constexpr auto kCopyings =
    std::to_array<std::string_view>({"auto", "receiver", "sender", "both"});                      // as CopyingWish
inline constexpr auto kTransports = std::to_array<std::string_view>({"auto", "native", "wire"});  // as TransportWish
inline constexpr auto kBlockingWishes =
    std::to_array<std::string_view>({"auto", "always", "never"});  // as BlockingWish
inline constexpr auto kNeighborhoods =
    std::to_array<std::string_view>({"auto", "schedules", "native", "always"});  // as NeighborhoodWish

enum Row : std::size_t {
  kEngine,
  kPlacement,
  kProgressCpus,
  kAlgorithm,
  kSegment,
  kCosts,
  kReport,
  kTimeline,
  kConfig,
  kVerbose,
  kNap,
  kSpace,
  kSpaceCopy,
  kSpaceDevices,
  kNeighborhood,
  kBlocking,
  kTransport,
  kWireMessages,
  kWireInterface,
  kSites,
  kLinkRates,
  kLanes,
  kConnections,
  kCongestion,
  kTagUb,
  kPeerTimeout,
  kRows
};

extern const std::array<Option, kRows> kTable;
extern const std::array<std::string_view, kRows> kNames;

// An option of the last release, which this one still takes.
struct OldOption {
  Option form;      // as it was written
  std::size_t row;  // what it is now; kRows: it has no effect any more
  // What its value is now; nullptr: the default.
  const char* (*now)(const char* value);
  const char* why_gone = nullptr;  // where it has no effect
};

extern const std::array<OldOption, 6> kOldTable;

const OldOption* old_option(const Option& option);  // nullptr: it is one of this release

// A value of the last release, which this one still takes.
struct OldValue {
  std::size_t row;
  const char* value;
  const char* now;
};

inline constexpr std::array<OldValue, 2> kOldValues = {{{kEngine, "host", "native"}, {kTransport, "host", "native"}}};

// What a value of the option is now: `value` itself, but for one of the last release.
const char* present_value(const Option& option, const char* value);

}  // namespace urakata::table
