// SPDX-License-Identifier: BSD-3-Clause
// The rows of the option table by number, and the words of their choices. Only files in base/options/ include this.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "base/options/options.hpp"

namespace urakata::table {

inline constexpr std::string_view kPrefix = "URAKATA_";  // an option's variable is this and the row's name

// The words of choices, in the order of the enumeration named.
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

// An option of the last release, which this release still accepts.
struct OldOption {
  Option form;      // the option as the last release had it
  std::size_t row;  // the present option; kRows: the old one has no effect any more
  // Translates a value of `form` to one of `row`. A result of nullptr: nothing is set, so the default stands.
  const char* (*now)(const char* value);
  const char* why_gone = nullptr;  // why the option has no effect any more; nullptr: it has one
};

extern const std::array<OldOption, 6> kOldTable;

const OldOption* old_option(const Option& option);  // nullptr: `option` is no old option

// A value of the last release, which this release still accepts.
struct OldValue {
  std::size_t row;
  const char* value;
  const char* now;
};

inline constexpr std::array<OldValue, 2> kOldValues = {{{kEngine, "host", "native"}, {kTransport, "host", "native"}}};

// The present word for a value of `option` that the last release had; for any other value, `value` itself.
const char* present_value(const Option& option, const char* value);

}  // namespace urakata::table
