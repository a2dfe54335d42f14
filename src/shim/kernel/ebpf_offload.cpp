// SPDX-License-Identifier: BSD-3-Clause
#include "shim/kernel/ebpf_offload.hpp"

#include <netinet/in.h>
#include <sys/random.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "base/options/options.hpp"
#include "shim/process/job_setup.hpp"
#include "shim/process/obstacle.hpp"
#include "shim/process/said_once.hpp"
#include "transport/wire/sockets.hpp"
#include "xdp/table.hpp"

namespace urakata::shim {

namespace {

// What a rank tells the others: first about its own side, then whether the other ranks' sides answer it.
struct OffloadRecord {
  xdp::Side side;
  std::uint64_t token = 0;  // all use that of the communicator's first rank
  Obstacle obstacle;        // to an offload
  bool attached = false;    // whether eBPF code is attached for this user

  void set(const std::string& why) {
    obstacle = Obstacle(why);
    attached = why.empty() || xdp::Table::any();
  }
};

void tell_of_no_offload(bool first_rank, bool attached, const std::string& why) {
  if (!first_to_find(attached ? "no offload, though eBPF code is attached" : "no offload") || !first_rank) return;
  const std::string line = "engine kernel: small collectives not by eBPF code: " + why;
  if (attached) {
    log::warning("%s", line.c_str());
  } else {
    log::information("%s", line.c_str());
  }
}

// Whether no rank has an obstacle. Otherwise a message names the first rank that has one.
bool all_can(const job::Bootstrap& members, const std::vector<OffloadRecord>& all) {
  if (all.size() != members.ranks()) return false;  // the MPI library refuses their meeting
  const auto cannot = std::ranges::find_if(all, [](const OffloadRecord& one) { return one.obstacle.any(); });
  if (cannot == all.end()) return true;
  const bool attached = std::ranges::any_of(all, [](const OffloadRecord& one) { return one.attached; });
  tell_of_no_offload(members.rank() == 0, attached,
                     "rank " + std::to_string(cannot - all.begin()) + ": " + cannot->obstacle.text());
  return false;
}

// nullptr: the record says why.
std::unique_ptr<xdp::Offload> own_offload(const std::vector<std::int32_t>& world, std::size_t own,
                                          OffloadRecord& record) {
  const transport::ListenAddress address = job_setup().wire()->address_of(world[own == 0 ? 1 : 0]);
  if (address.address.ss_family != AF_INET) {
    record.set("nodes reach each other by IPv6, which eBPF code does not know");
    return nullptr;
  }
  if (getrandom(&record.token, sizeof record.token, 0) != sizeof record.token || record.token == 0) {
    record.set("there are no random numbers for a secret");
    return nullptr;
  }
  auto opened = xdp::Offload::open(reinterpret_cast<const sockaddr_in&>(address.address), options().peer_timeout_ns());
  record.set(opened.ok() ? "" : opened.error().message);
  if (!opened.ok()) return nullptr;
  record.side = (*opened)->side();
  return std::move(*opened);
}

}  // namespace

std::unique_ptr<xdp::Offload> open_offload(job::Bootstrap& members, const std::vector<std::int32_t>& world) {
  if (world.size() > URA_XDP_RANKS) {
    tell_of_no_offload(members.rank() == 0, xdp::Table::any(),
                       "a communicator of more than " + std::to_string(URA_XDP_RANKS) + " ranks");
    return nullptr;
  }
  OffloadRecord own;
  std::unique_ptr<xdp::Offload> made = own_offload(world, members.rank(), own);
  const std::vector<OffloadRecord> all = members.gathered(own);
  if (!all_can(members, all)) return nullptr;
  std::vector<xdp::Side> sides;
  for (const OffloadRecord& record : all) sides.push_back(record.side);
  made->join(std::move(sides), static_cast<std::uint32_t>(members.rank()), all.front().token);
  if (members.gathered(std::uint8_t{1}).size() != world.size()) return nullptr;  // no rank sends before all have joined
  const Status heard = made->greet();
  own.set(heard.ok() ? "" : heard.error().message);
  if (!all_can(members, members.gathered(own))) return nullptr;
  if (!made->same_ops() && first_to_find("other operations") && members.rank() == 0) {
    log::warning(
        "engine kernel: operations of programs' own not by eBPF code: not the same ones are attached on all nodes "
        "(urakata kernel list)");
  }
  return made;
}

}  // namespace urakata::shim
