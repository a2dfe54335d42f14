#include "shim/process_sites.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/options.hpp"
#include "base/waiting.hpp"
#include "job/link_rates.hpp"
#include "job/site_exchange.hpp"
#include "job/sites.hpp"
#include "lanes/model.hpp"
#include "shim/host.hpp"
#include "shim/host_bootstrap.hpp"
#include "shim/process.hpp"
#include "shim/refusal.hpp"
#include "transport/lanes.hpp"

namespace urakata::shim {

namespace {

constexpr std::uint32_t kStreams = 4;

std::optional<LinkFacts> slowest;

// Sets the number of the lanes' connections to what fills the slowest link.
void measure(job::Bootstrap& world, transport::Lanes& lanes, const Sites& sites, std::span<const std::int32_t> nodes) {
  const std::uint64_t begin = now_ns();
  const std::optional<job::LinkRates> rates = job::measure_links(world, lanes, sites, nodes);
  if (!rates) return;
  slowest = rates->slowest;
  const std::uint32_t streams = lanes::streams_for(*slowest, rates->most_nodes);
  lanes.set_streams(streams);
  log::information(
      "the slowest link carries %.1f Mb/s by one connection, %.1f by two nodes, %.1f by all; %u connections for a pair "
      "of ranks (measured in %.2f s)",
      slowest->stream * 8e-6, slowest->pair * 8e-6, slowest->link * 8e-6, streams,
      static_cast<double>(now_ns() - begin) * 1e-9);
}

}  // namespace

const LinkFacts* slowest_link() { return slowest ? &*slowest : nullptr; }

Sites Process::meet_sites(job::Bootstrap& world, const Network& network) {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  Result<Sites> settled = job::settle_sites(world, network, options().sites, name.data());
  if (!settled.ok()) {
    if (world.rank() == 0) refuse_job(settled.error().message);
    for (;;) pause();  // until rank 0 has ended the job
  }
  Sites sites = std::move(*settled);
  sites_text_ = job::described(sites, network);
  return sites;
}

void Process::open_lanes() {
  if (sites_.count < 2) return;
  log::information("%s", sites_text_.c_str());
  const std::uint32_t streams = options().streams != 0 ? options().streams : kStreams;
  if (wiring_.wire() != nullptr) {
    auto opened = transport::Lanes::open(*wiring_.wire(), failures_,
                                         {.streams = streams, .congestion = std::string(options().congestion)});
    if (opened.ok()) {
      lanes_ = opened->release();
    } else {
      log::warning("%s", opened.error().message.c_str());
    }
  }
  // Both ends of a pair must have them.
  enum class Has : std::uint8_t { lanes, no_wire, neither };
  HostBootstrap world(world_);
  const auto all = world.gathered(lanes_ != nullptr           ? Has::lanes
                                  : wiring_.wire() == nullptr ? Has::no_wire
                                                              : Has::neither);
  if (all.empty() || std::ranges::find(all, Has::neither) != all.end()) {
    delete std::exchange(lanes_, nullptr);
  } else if (lanes_ != nullptr && options().streams == 0 && std::ranges::find(all, Has::no_wire) == all.end()) {
    measure(world, *lanes_, sites_, job_.nodes());
  }
}

std::vector<bool> ranks_at_other_sites() {
  const Sites& sites = process().sites();
  std::vector<bool> far;
  for (const std::int32_t site : sites.of) {
    far.push_back(site != sites.of[static_cast<std::size_t>(process().world_rank())]);
  }
  return far;
}

observe::Meta::Sites report_of_sites() {
  observe::Meta::Sites told;
  const Sites& sites = process().sites();
  if (sites.count < 2) return told;
  told.found = process().sites_text();
  const auto own = static_cast<std::size_t>(sites.of[static_cast<std::size_t>(process().world_rank())]);
  for (std::size_t site = 0; site < sites.count; ++site) {
    const std::uint32_t round_trip_us = sites.round_trip_us[own * sites.count + site];
    told.ways.push_back({.site = sites.names[site], .round_trip_ms = round_trip_us * 1e-3});
  }
  if (process().lanes() != nullptr) {
    for (const auto& [rank, traffic] : process().lanes()->traffic()) {
      auto& way = told.ways[static_cast<std::size_t>(sites.of[static_cast<std::size_t>(rank)])];
      way.bytes += traffic.bytes;
      way.pieces += traffic.pieces;
      way.again += traffic.again;
      way.lanes = std::max(way.lanes, traffic.lanes);
      way.lost += traffic.lost;
    }
  }
  told.ways.erase(told.ways.begin() + static_cast<std::ptrdiff_t>(own));
  return told;
}

void settle_lanes() {
  transport::Lanes* const lanes = process().lanes();
  if (lanes == nullptr) return;
  Ladder ladder(process().oversubscribed());
  while (!lanes->settled()) {
    process().progress().step_all();
    ladder.step();
  }
}

}  // namespace urakata::shim
