// SPDX-License-Identifier: BSD-3-Clause
// Several connections between ranks at different sites, from MPI_Init to MPI_Finalize.
#include <algorithm>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "base/options/options.hpp"
#include "base/waiting.hpp"
#include "shim/native/native_bootstrap.hpp"
#include "shim/native/private_comms.hpp"
#include "shim/process/job_setup.hpp"
#include "shim/process/process_state.hpp"
#include "shim/sites/between_sites.hpp"
#include "shim/sites/site_links.hpp"
#include "transport/stripes/stripes.hpp"

namespace urakata::shim {

namespace {

constexpr std::uint32_t kStandardStreams = 4;

}  // namespace

transport::Stripes* open_stripes(transport::Failures& failures) {
  const JobSetup& job = job_setup();
  const Sites& sites = job.sites();
  if (sites.count < 2) return nullptr;
  log::information("%s", job.sites_text().c_str());
  const std::uint32_t streams = options().connections != 0 ? options().connections : kStandardStreams;
  transport::Stripes* made = nullptr;
  if (job.wire() != nullptr) {
    auto opened = transport::Stripes::open(*job.wire(), failures,
                                           {.streams = streams, .congestion = std::string(options().congestion)});
    if (opened.ok()) {
      made = opened->release();
    } else {
      log::warning("%s", opened.error().message.c_str());
    }
  }
  // Both ranks of a pair must have stripes.
  enum class Has : std::uint8_t { stripes, no_wire, neither };
  NativeBootstrap world(private_comms.world);
  const auto all = world.gathered(made != nullptr ? Has::stripes : job.wire() == nullptr ? Has::no_wire : Has::neither);
  if (all.empty() || std::ranges::find(all, Has::neither) != all.end()) {
    delete std::exchange(made, nullptr);
  } else if (made != nullptr && options().connections == 0 && std::ranges::find(all, Has::no_wire) == all.end()) {
    learn_links(world, *made, sites, job.job().nodes(),
                [&job](std::int32_t one, std::int32_t other) { return job.transports().by_wire(one, other); });
    made->set_streams(streams);  // for ranks to which the link is not known
  }
  return made;
}

observe::Meta::Sites report_of_sites() {
  observe::Meta::Sites told;
  const Sites& sites = job_setup().sites();
  if (sites.count < 2) return told;
  told.found = job_setup().sites_text();
  const auto own = static_cast<std::size_t>(sites.of[static_cast<std::size_t>(process_state.world_rank)]);
  for (std::size_t site = 0; site < sites.count; ++site) {
    const std::uint32_t round_trip_us = sites.round_trip_us[own * sites.count + site];
    told.ways.push_back({.site = sites.names[site], .round_trip_ms = round_trip_us * 1e-3});
  }
  if (job_setup().stripes() != nullptr) {
    for (const auto& [rank, traffic] : job_setup().stripes()->traffic()) {
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

void settle_stripes(const std::function<void()>& step) {
  if (job_setup().sites().count < 2) return;
  transport::Stripes* const stripes = job_setup().stripes();
  Ladder ladder(process_state.oversubscribed);
  const auto settled = [&] {
    if (stripes == nullptr || stripes->settled()) return true;
    step();
    return false;
  };
  while (!settled()) ladder.step();
  // What a lost stripe carried is sent again over another one, even if it had arrived. So each rank keeps answering
  // until all ranks are settled.
  NativeBootstrap(private_comms.world).meet([&] {
    settled();
    ladder.step();
  });
}

void judge_links() {
  const Sites& sites = job_setup().sites();
  if (sites.count < 2) return;
  NativeBootstrap world(private_comms.world);
  // All ranks decide alike: in open_stripes(), all ranks have learnt rates, or none has.
  transport::Stripes* const stripes = job_setup().stripes();
  if (stripes != nullptr && any_link_known()) judge_links(world, *stripes, sites);
}

}  // namespace urakata::shim
