// SPDX-License-Identifier: BSD-3-Clause
#include "shim/sites/site_links.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/options/options.hpp"
#include "job/known_links.hpp"
#include "job/known_rates.hpp"
#include "job/link_rates.hpp"
#include "lanes/model.hpp"

namespace urakata::shim {

namespace {

constexpr double kMegabit = 125e3;  // bytes/s
constexpr double kLongTrips = 4;    // round trips at full rate that a transfer must last to tell a link's rate

// Set in MPI_Init.
struct State {
  job::KnownRates known;
  std::optional<job::LinkRates> rates;
  std::size_t sites = 0;
};
State& state() {
  static auto* made = new State;  // never destroyed: progress threads may outlast main
  return *made;
}

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

void add_to_file(const std::string& file, const std::string& entries) {
  if (entries.empty() || file.empty()) return;
  if (const Status added = job::append_entries(file, entries); !added) {
    log::warning("LINK_RATES: cannot write %s; the next job measures the links again", added.error().message.c_str());
  }
}

std::string words(const Sites& sites, std::size_t one, std::size_t other, const LinkFacts& facts) {
  std::array<char, 256> text{};
  std::snprintf(
      text.data(), text.size(),
      "the link between the sites %s and %s: %.1f Mb/s by one connection, %.1f by two nodes, %.1f by all; %.2f ms, "
      "%.2f %% lost",
      sites.names[one].c_str(), sites.names[other].c_str(), facts.stream / kMegabit, facts.pair / kMegabit,
      facts.link / kMegabit, facts.delay * 1e3, facts.loss * 100);
  return text.data();
}

}  // namespace

const LinkFacts* link_between(std::int32_t one, std::int32_t other) {
  const State& now = state();
  if (!now.rates) return nullptr;
  const auto& link = now.rates->of[static_cast<std::size_t>(one) * now.sites + static_cast<std::size_t>(other)];
  return link ? &*link : nullptr;
}

bool any_link_known() { return state().rates.has_value(); }

namespace {

// A way of all nodes of two sites, as if each pair of nodes sent at the same time.
lanes::Way all_nodes(const job::LinkRates& rates, std::size_t one, std::size_t other) {
  const std::uint32_t nodes = std::min(rates.nodes[one], rates.nodes[other]);
  return {.pairs = nodes, .nodes = nodes};
}

// Gives this rank as many connections to each rank at another site as fill the link to that site.
void use_links(transport::Stripes& stripes, const Sites& sites, std::size_t own) {
  State& now = state();
  const job::LinkRates& rates = *now.rates;
  now.sites = sites.count;
  for (std::size_t rank = 0; rank < sites.of.size(); ++rank) {
    const auto site = static_cast<std::size_t>(sites.of[rank]);
    const auto& link = rates.of[own * sites.count + site];
    if (site == own || !link) continue;
    const lanes::Way way = all_nodes(rates, own, site);
    const std::uint32_t streams = lanes::streams_for(*link, way);
    const std::uint32_t first = lanes::first_streams_for(*link, way, streams, transport::Stripes::kFirstFlight);
    stripes.set_streams(static_cast<std::int32_t>(rank), streams, first);
  }
}

// Bytes that a transfer must have to tell any link's rate: by the link with the most bytes under way; 1 MiB at least.
std::uint64_t long_one(const job::LinkTable& links) {
  double most = 1UL << 20U;
  for (const auto& facts : links) {
    if (facts) most = std::max(most, kLongTrips * 2 * facts->delay * facts->link);
  }
  return static_cast<std::uint64_t>(most);
}

}  // namespace

void learn_links(job::Bootstrap& world, transport::Stripes& stripes, const Sites& sites,
                 std::span<const std::int32_t> nodes, const job::HaveStripes& have_stripes) {
  const std::uint64_t begin = now_ns();
  Result<job::KnownRates> read = job::known_rates(world, sites, options().link_rates, host_name());
  job::KnownRates& known = state().known;
  if (read.ok()) {
    known = std::move(*read);
  } else {
    if (world.rank() == 0) log::warning("%s; the links between sites are measured", read.error().message.c_str());
    known.of.assign(sites.count * sites.count, std::nullopt);
  }
  if (world.rank() == 0) {
    for (const std::string& line : known.changed) log::warning("%s", line.c_str());
  }
  state().rates = job::measure_links(world, stripes, sites, nodes, have_stripes, known.of);
  const std::optional<job::LinkRates>& rates = state().rates;
  if (!rates) return;
  use_links(stripes, sites, static_cast<std::size_t>(sites.of[world.rank()]));
  for (std::size_t one = 0; one < sites.count; ++one) {
    for (std::size_t other = one + 1; other < sites.count; ++other) {
      const std::size_t at = one * sites.count + other;
      if (!rates->of[at]) continue;
      log::information("%s (%s); %u connections for a pair of ranks", words(sites, one, other, *rates->of[at]).c_str(),
                       known.of[at] ? known.file.c_str() : "measured",
                       lanes::streams_for(*rates->of[at], all_nodes(*rates, one, other)));
    }
  }
  log::information("the links between sites were known after %.2f s", static_cast<double>(now_ns() - begin) * 1e-9);
  if (world.rank() == 0) add_to_file(known.file, job::new_entries(known, rates->of, sites));
  if (!known.file.empty()) stripes.note_sites(sites.of, long_one(rates->of));
}

void judge_links(job::Bootstrap& world, transport::Stripes& stripes, const Sites& sites) {
  const job::KnownRates& known = state().known;
  if (known.file.empty() || !state().rates) return;
  std::vector<job::Carried> own(sites.count);
  for (const auto& [rank, traffic] : stripes.traffic()) {
    own[static_cast<std::size_t>(sites.of[static_cast<std::size_t>(rank)])].bytes_in_all += traffic.bytes;
  }
  for (std::size_t site = 0; site < sites.count; ++site) {
    const auto busiest = stripes.busiest(static_cast<std::int32_t>(site));
    own[site].bytes = busiest.bytes;
    own[site].seconds = busiest.seconds;
    own[site].connections = busiest.connections;
  }
  std::vector<job::Carried> all(sites.count * world.ranks());
  if (!world.allgather(std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(all)))) return;
  if (world.rank() != 0) return;
  const auto wrong = job::misjudged(all, *state().rates, sites);
  for (const job::Misjudged& each : wrong) {
    log::warning(
        "the link from site %s to site %s carried %.1f Mb/s, and not %.1f as %s says: the next job measures it anew",
        sites.names[each.one].c_str(), sites.names[each.other].c_str(), each.carried / kMegabit, each.known / kMegabit,
        known.file.c_str());
  }
  add_to_file(known.file, job::outdated_entries(known, wrong));
}

std::vector<observe::Meta::Sites::Link> report_of_links(const Sites& sites) {
  std::vector<observe::Meta::Sites::Link> all;
  const State& now = state();
  if (!now.rates) return all;
  for (std::size_t one = 0; one < sites.count; ++one) {
    for (std::size_t other = one + 1; other < sites.count; ++other) {
      const std::size_t at = one * sites.count + other;
      if (!now.rates->of[at]) continue;
      const LinkFacts& facts = *now.rates->of[at];
      all.push_back({.one = sites.names[one],
                     .other = sites.names[other],
                     .source = now.known.of[at] ? now.known.file : "measured in MPI_Init",
                     .delay_ms = facts.delay * 1e3,
                     .stream_mbit = facts.stream / kMegabit,
                     .pair_mbit = facts.pair / kMegabit,
                     .link_mbit = facts.link / kMegabit,
                     .inside_mbit = facts.inside / kMegabit,
                     .loss_percent = facts.loss * 100});
    }
  }
  return all;
}

}  // namespace urakata::shim
