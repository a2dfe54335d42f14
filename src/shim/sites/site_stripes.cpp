// SPDX-License-Identifier: BSD-3-Clause
// Several connections between ranks at different sites, from MPI_Init to MPI_Finalize.
#include <algorithm>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "base/options/options.hpp"
#include "base/waiting.hpp"
#include "shim/lifecycle/process.hpp"
#include "shim/native/native_bootstrap.hpp"
#include "shim/native/private_comms.hpp"
#include "shim/process/process_state.hpp"
#include "shim/sites/between_sites.hpp"
#include "shim/sites/site_links.hpp"
#include "transport/stripes/stripes.hpp"

namespace urakata::shim {

namespace {

constexpr std::uint32_t kStandardStreams = 4;

}  // namespace

void Process::open_stripes() {
  if (sites_.count < 2) return;
  log::information("%s", sites_text_.c_str());
  const std::uint32_t streams = options().connections != 0 ? options().connections : kStandardStreams;
  if (wiring_.wire() != nullptr) {
    auto opened = transport::Stripes::open(*wiring_.wire(), failures_,
                                           {.streams = streams, .congestion = std::string(options().congestion)});
    if (opened.ok()) {
      stripes_ = opened->release();
    } else {
      log::warning("%s", opened.error().message.c_str());
    }
  }
  // Both ends of a pair must have them.
  enum class Has : std::uint8_t { stripes, no_wire, neither };
  NativeBootstrap world(private_comms.world);
  const auto all = world.gathered(stripes_ != nullptr         ? Has::stripes
                                  : wiring_.wire() == nullptr ? Has::no_wire
                                                              : Has::neither);
  if (all.empty() || std::ranges::find(all, Has::neither) != all.end()) {
    delete std::exchange(stripes_, nullptr);
  } else if (stripes_ != nullptr && options().connections == 0 && std::ranges::find(all, Has::no_wire) == all.end()) {
    learn_links(world, *stripes_, sites_, job_.nodes(),
                [this](std::int32_t one, std::int32_t other) { return transports_.by_wire(one, other); });
    stripes_->set_streams(streams);  // to whom the link is not known
  }
}

observe::Meta::Sites report_of_sites() {
  observe::Meta::Sites told;
  const Sites& sites = process().sites();
  if (sites.count < 2) return told;
  told.found = process().sites_text();
  const auto own = static_cast<std::size_t>(sites.of[static_cast<std::size_t>(process_state.world_rank)]);
  for (std::size_t site = 0; site < sites.count; ++site) {
    const std::uint32_t round_trip_us = sites.round_trip_us[own * sites.count + site];
    told.ways.push_back({.site = sites.names[site], .round_trip_ms = round_trip_us * 1e-3});
  }
  if (process().stripes() != nullptr) {
    for (const auto& [rank, traffic] : process().stripes()->traffic()) {
      auto& way = told.ways[static_cast<std::size_t>(sites.of[static_cast<std::size_t>(rank)])];
      way.bytes += traffic.bytes;
      way.pieces += traffic.pieces;
      way.again += traffic.again;
      way.connections = std::max(way.connections, traffic.stripes);
      way.lost += traffic.lost;
    }
  }
  told.ways.erase(told.ways.begin() + static_cast<std::ptrdiff_t>(own));
  told.links = report_of_links(sites);
  return told;
}

void Process::settle_stripes() {
  if (sites_.count < 2) return;
  Ladder ladder(process_state.oversubscribed);
  const auto settled = [&] {
    if (stripes_ == nullptr || stripes_->settled()) return true;
    progress_.step_all();
    return false;
  };
  while (!settled()) ladder.step();
  // What a lost stripe had comes again over another one, also what has come: until all are settled, all answer.
  NativeBootstrap(private_comms.world).meet([&] {
    settled();
    ladder.step();
  });
}

void Process::judge_links() {
  if (sites_.count < 2) return;
  NativeBootstrap world(private_comms.world);
  // As in open_stripes(): one that lacks them has learnt nothing, and then none has.
  if (stripes_ != nullptr && any_link_known()) shim::judge_links(world, *stripes_, sites_);
}

}  // namespace urakata::shim
