// SPDX-License-Identifier: BSD-3-Clause
#include "tune/costs.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "base/log.hpp"
#include "base/options/nearest.hpp"
#include "base/options/options.hpp"
#include "base/options/written.hpp"

namespace urakata::tune {

namespace {

constexpr double kLongest = 1e12;  // ns
constexpr double kMostBytes = 1ULL << 40U;
constexpr double kMostBlock = 1 << 20;
constexpr double kMostCrowding = 1 << 15;
constexpr double kMostPiece = 1 << 30;
constexpr double kLine = 64;            // bytes of a cache line
constexpr double kLeastSegment = 1024;  // with shorter segments schedules and messages would be far too many

template <auto kGroup, auto kField>
double& in(Costs& costs) {
  return costs.*kGroup.*kField;
}

constexpr std::string_view kNotMeasured = "assumed";
constexpr std::string_view kOwnCores = "bench/nbc.c, 2 to 4 ranks with a core each (Granite Rapids, Open MPI 5)";
constexpr std::string_view kSharedCores = "bench/nbc.c, 4 ranks on 2 cores";
constexpr std::string_view kHosts = "bench/nbc.c over `urakata hosts`, links of 1 Gb/s";
constexpr std::string_view kLayouts = "bench/layout (Granite Rapids)";
constexpr std::string_view kFaces = "examples/halo_faces.c";
constexpr std::string_view kExchanges = "bench/halo";
constexpr std::string_view kChannels = "tests/halo/bench_test.cpp (EPYC, Granite Rapids, 2 ranks)";

template <auto kGroup>
constexpr std::array<CostRow, 7> link_rows(std::string_view group, std::string_view measured) {
  return {{{group, "step", "ns", "From the start of a send until the receiver can go on", measured, 0, kLongest,
            in<kGroup, &LinkCosts::step>},
           {group, "message", "ns", "Each further message, sent and received, while others are under way", measured, 0,
            kLongest, in<kGroup, &LinkCosts::message>},
           {group, "ask", "ns", "More for a step above common.eager_bytes, where the receiver is asked first", measured,
            0, kLongest, in<kGroup, &LinkCosts::ask>},
           {group, "segment", "ns", "Each further segment of a stream", measured, 0, kLongest,
            in<kGroup, &LinkCosts::segment>},
           {group, "byte", "ns", "Each byte moved", measured, 0, kLongest, in<kGroup, &LinkCosts::byte>},
           {group, "add", "ns", "Each byte reduced", measured, 0, kLongest, in<kGroup, &LinkCosts::add>},
           {group, "segment_bytes", "bytes", "Longest segment of a message that travels in pieces", measured,
            kLeastSegment, kMostBytes, in<kGroup, &LinkCosts::segment_bytes>}}};
}

constexpr auto kOthers = std::to_array<CostRow>({
    {"common", "eager_bytes", "bytes", "Longest message that goes without asking the receiver", kOwnCores, 1,
     kMostBytes, in<&Costs::common, &CommonCosts::eager_bytes>},
    {"common", "time_slice", "ns", "Until the next of several ranks on a core has the core", kSharedCores, 0, kLongest,
     in<&Costs::common, &CommonCosts::time_slice>},
    {"common", "few_ranks", "ranks", "So many can be heard all at once", kNotMeasured, 2, kMostBytes,
     in<&Costs::common, &CommonCosts::few_ranks>},
    {"common", "many_ranks", "ranks", "More that send to one another get into each other's way", kNotMeasured, 2,
     kMostBytes, in<&Costs::common, &CommonCosts::many_ranks>},
    {"common", "inputs_ranks", "ranks",
     "Where no rank may reduce for others, more leave a reduction to the MPI library", kNotMeasured, 2, kMostBytes,
     in<&Costs::common, &CommonCosts::inputs_ranks>},
    {"common", "inputs_bytes", "bytes", "Likewise, where the inputs of all ranks are more", kNotMeasured, 0, kMostBytes,
     in<&Costs::common, &CommonCosts::inputs_bytes>},
    {"common", "flat_bytes", "bytes", "Up to here readers of the same memory do not wait for each other", kOwnCores, 0,
     kMostBytes, in<&Costs::common, &CommonCosts::flat_bytes>},
    {"common", "cache_bytes", "bytes", "From here a block has left the cache when it is passed on", kOwnCores, 0,
     kMostBytes, in<&Costs::common, &CommonCosts::cache_bytes>},
    {"common", "pack_block", "ns", "To pack or unpack one small block", kNotMeasured, 0, kLongest,
     in<&Costs::common, &CommonCosts::pack_block>},
    {"copy", "pack_below", "bytes", "In a space, below this elements with holes are packed by the sender", kLayouts, 1,
     kMostBytes, in<&Costs::copy, &CopyCosts::pack_below>},
    {"copy", "share_from", "bytes", "In a space, from here two ranks copy a message that has holes", kLayouts, 1,
     kMostBytes, in<&Costs::copy, &CopyCosts::share_from>},
    {"copy", "share_plain_from", "bytes", "In a space, from here two ranks copy a message without holes",
     "`urakata bench space` (Granite Rapids)", 1, kMostBytes, in<&Costs::copy, &CopyCosts::share_plain_from>},
    {"copy", "short_block", "bytes", "In a space, shorter blocks are packed where they are few or on a list", kLayouts,
     0, kMostBlock, in<&Costs::copy, &CopyCosts::short_block>},
    {"copy", "exchange_block", "bytes", "In a space, blocks up to this are packed by a sender that also receives",
     kFaces, 0, kMostBlock, in<&Costs::copy, &CopyCosts::exchange_block>},
    {"copy", "exchange_most", "bytes", "In a space, a sender that also receives copies payloads up to this aside",
     kExchanges, 0, kMostBytes, in<&Costs::copy, &CopyCosts::exchange_most>},
    {"copy", "loose", "ratio", "In a space on Intel, from so much memory a payload byte short blocks are packed",
     kLayouts, 0, kMostBlock, in<&Costs::copy, &CopyCosts::loose>},
    {"copy", "crowded", "ratio", "In a space on Intel, whole lines with so many times less cache are packed, too",
     kLayouts, 1, kMostCrowding, in<&Costs::copy, &CopyCosts::crowded>},
    {"copy", "set_aside_most", "bytes", "In a space, up to here a send that waits in vain keeps its payload aside",
     kNotMeasured, 0, kMostBytes, in<&Costs::copy, &CopyCosts::set_aside_most>},
    {"copy", "piece_least", "bytes", "Shortest piece of what two ranks copy; rounded down to whole lines", kNotMeasured,
     kLine, kMostPiece, in<&Costs::copy, &CopyCosts::piece_least>},
    {"copy", "piece_most", "bytes", "Longest piece of what two ranks copy; not below the shortest", kNotMeasured, kLine,
     kMostPiece, in<&Costs::copy, &CopyCosts::piece_most>},
    {"channel", "pull_least", "bytes",
     "Neighbourhood channels: from here the receiver copies, between neighbours that send to each other", kChannels, 0,
     kMostBytes, in<&Costs::channel, &ChannelCosts::pull_least>},
    {"channel", "direct_least", "bytes", "Neighbourhood channels: from here a receiver has a ready flag", kChannels, 0,
     kMostBytes, in<&Costs::channel, &ChannelCosts::direct_least>},
    {"channel", "bounce_most", "bytes", "Neighbourhood channels: up to here early payloads have bounce buffers",
     kChannels, 0, kMostBytes, in<&Costs::channel, &ChannelCosts::bounce_most>},
    {"channel", "short_bounce_most", "bytes",
     "Neighbourhood channels: up to here bounce buffers alone, if blocks are shorter than a line", kChannels, 0,
     kMostBytes, in<&Costs::channel, &ChannelCosts::short_bounce_most>},
    {"channel", "shared_most", "bytes", "Neighbourhood channels: below, all payloads between two ranks share one",
     kChannels, 0, kMostBytes, in<&Costs::channel, &ChannelCosts::shared_most>},
    {"channel", "far_bounce_most", "bytes", "Neighbourhood channels: bounce buffers up to here between nodes",
     kNotMeasured, 0, kMostBytes, in<&Costs::channel, &ChannelCosts::far_bounce_most>},
    {"channel", "bounce_budget", "bytes", "Neighbourhood channels: most memory for bounce buffers of one", kNotMeasured,
     0, kMostBytes, in<&Costs::channel, &ChannelCosts::bounce_budget>},
    {"channel", "bounce_total", "bytes", "Neighbourhood channels: most memory for bounce buffers of a process",
     kNotMeasured, 0, kMostBytes, in<&Costs::channel, &ChannelCosts::bounce_total>},
    {"progress", "gap", "ns", "A progress thread on the program's core is woken where longer passes from start to wait",
     "`urakata bench overlap`, Ibcast and Iallgather of 1 MiB", 0, kLongest,
     in<&Costs::progress_thread, &ProgressThreadCosts::gap>},
});

constexpr auto kCostTable = [] {
  constexpr std::array kLinks = {link_rows<&Costs::node>("node", kOwnCores),
                                 link_rows<&Costs::crowded>("crowded", kSharedCores),
                                 link_rows<&Costs::native>("native", kHosts), link_rows<&Costs::wire>("wire", kHosts)};
  std::array<CostRow, 4 * kLinks[0].size() + kOthers.size()> all{};
  auto* to = all.begin();
  for (const auto& rows : kLinks) to = std::copy(rows.begin(), rows.end(), to);
  std::copy(kOthers.begin(), kOthers.end(), to);
  return all;
}();
static_assert(kCostTable.size() * sizeof(double) == sizeof(Costs), "each cost has a row");

std::string range(const CostRow& row) {
  return written_cost(row.least) + " to " + written_cost(row.most) + " " + std::string(row.unit);
}

}  // namespace

std::span<const CostRow> cost_table() { return kCostTable; }

namespace {

// The present name of a cost, from the one that it had in the last release; the name itself if it has not changed.
std::string present_name(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kRenamed = {
      {{"exchange.landing_most", "channel.bounce_most"},
       {"exchange.short_landing_most", "channel.short_bounce_most"},
       {"exchange.far_landing_most", "channel.far_bounce_most"},
       {"exchange.plan_landing", "channel.bounce_budget"},
       {"exchange.all_landing", "channel.bounce_total"},
       {"exchange.", "channel."},
       {"host.", "native."},
       {"helper.", "progress."}}};
  for (const auto& [old, now] : kRenamed) {
    if (name == old || (old.ends_with('.') && name.starts_with(old)))
      return std::string(now).append(name.substr(old.size()));
  }
  return std::string(name);
}

}  // namespace

Result<const CostRow*> cost_named(std::string_view given) {
  const std::string name = present_name(given);
  std::vector<std::string> names;
  for (const CostRow& row : kCostTable) {
    names.push_back(row.name());
    if (names.back() == name) return &row;
  }
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  if (name == "common.turn") return Error{"the cost common.turn is called common.time_slice now"};
  const std::string_view near = nearest(name, candidates);
  return Error{
      "no cost is called " + written::quoted(given) +
      (near.empty() ? "; `urakata check --options --expert` lists them" : "; did you mean " + std::string(near) + "?")};
}

Result<double> cost_value(const CostRow& row, std::string_view value) {
  double number = -1;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  bool good = error == std::errc{} && end == value.data() + value.size();
  if (const auto size = written::size(value); !good && row.unit == "bytes" && size) {
    number = static_cast<double>(*size);
    good = true;
  }
  if (good && number >= row.least && number <= row.most) return number;
  return Error{row.name() + "=" + std::string(value) + ": not a valid cost; use " + range(row)};
}

std::string written_cost(double value) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

Result<Costs> read_costs(std::string_view list) {
  Costs costs;
  while (!list.empty()) {
    std::string_view value = written::cut(list, ',');
    const Result<const CostRow*> row = cost_named(written::cut(value, '='));
    if (!row) return row.error();
    const Result<double> number = cost_value(**row, value);
    if (!number) return number.error();
    (*row)->in(costs) = *number;
  }
  return costs;
}

bool in_list(std::string_view list, const CostRow& row) {
  while (!list.empty()) {
    std::string_view one = written::cut(list, ',');
    if (written::cut(one, '=') == row.name()) return true;
  }
  return false;
}

const Costs& costs() {
  static const Costs kInForce = [] {
    const Result<Costs> read = read_costs(options().costs);
    if (read) return *read;
    log::error("COSTS: %s; the defaults are used (a file is read by urakata-exec only)", read.error().message.c_str());
    return Costs{};
  }();
  return kInForce;
}

}  // namespace urakata::tune
