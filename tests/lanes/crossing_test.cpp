// SPDX-License-Identifier: BSD-3-Clause
// What crosses between the sites, counted: bytes over each link, and delays, which is how many messages between sites
// wait for each other in a row. Three sites of 3, 2 and 4 ranks that broadcast 1000 bytes: 1000 over the links from the
// root's to each of the others, in one delay.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "groups.hpp"

namespace urakata::lanes {
namespace {

using Link = std::pair<std::int32_t, std::int32_t>;  // from site, to site
using Bytes = std::map<Link, std::uint64_t>;

struct Crossed {
  Bytes bytes;  // of each link that something crosses
  std::uint32_t delays = 0;
};

// How many messages between sites there are in a row before an iteration ends. A send ends when it has left; all else
// that an iteration waits for is in its rank's schedule.
class Delays {
 public:
  Delays(const Call& called, const schedule::Proof& proof, const Where& where) : called_(called), where_(where) {
    for (const schedule::Matched& message : proof.messages) {
      sender_[{message.to, message.recv, message.recv_iteration}] = {message.from, message.send,
                                                                     message.send_iteration};
    }
  }

  std::uint32_t most() {
    std::uint32_t found = 0;
    for (std::uint32_t rank = 0; rank < called_.schedules.size(); ++rank) {
      const auto nodes = called_.schedules[rank].nodes();
      for (schedule::NodeId node = 0; node < nodes.size(); ++node) {
        found = std::max(found, before({rank, node, nodes[node].count - 1}));
      }
    }
    return found;
  }

 private:
  using Iteration = std::tuple<std::uint32_t, schedule::NodeId, std::uint32_t>;  // rank, node, its how-manieth

  // NOLINTNEXTLINE(misc-no-recursion): as deep as the few messages that are sent here
  std::uint32_t before(const Iteration& of) {
    if (const auto entry = known_.find(of); entry != known_.end()) return entry->second;
    const auto [rank, node, iteration] = of;
    const schedule::Schedule& own = called_.schedules[rank];
    std::uint32_t delays = iteration != 0 ? before({rank, node, iteration - 1}) : 0;
    for (const schedule::Edge& edge : own.into(node)) {
      if (edge.kind == schedule::EdgeKind::all) {
        delays = std::max(delays, before({rank, edge.from, own.nodes()[edge.from].count - 1}));
      } else if (iteration >= edge.distance) {
        delays = std::max(delays, before({rank, edge.from, iteration - edge.distance}));
      }
    }
    if (own.nodes()[node].kind == schedule::Kind::recv) {
      const Iteration& sent = sender_.at(of);
      const bool crosses = where_.sites[std::get<0>(sent)] != where_.sites[rank];
      delays = std::max(delays, before(sent) + (crosses ? 1U : 0U));
    }
    return known_[of] = delays;
  }

  const Call& called_;
  const Where& where_;
  std::map<Iteration, Iteration> sender_;  // of what each receive gets
  std::map<Iteration, std::uint32_t> known_;
};

constexpr std::uint64_t kBytes = 1000;

// A group that calls, each time with these: where its ranks are and who is root.
struct Group {
  Where where;
  std::uint32_t root = 0;

  std::int32_t home() const { return where.sites[root]; }
  std::string words() const { return where.words() + ", root " + std::to_string(root); }

  Arguments arguments(Operation operation, std::uint64_t bytes) const {
    Arguments common;
    common.ranks = where.ranks();
    common.root = root;
    common.bytes = bytes;
    if (collectives::is_reduction(operation)) common.element = common.extent = 4;
    return common;
  }

  Crossed count(const Result<Call>& made) const {
    Crossed found;
    EXPECT_TRUE(made.ok()) << made.error().message;
    if (!made) return found;
    const auto proof = prove(*made);
    EXPECT_TRUE(proof.ok()) << proof.error().message << "; " << words();
    if (!proof) return found;
    for (const schedule::Matched& message : proof->messages) {
      const Link link{where.sites[message.from], where.sites[message.to]};
      if (link.first != link.second) found.bytes[link] += message.bytes;
    }
    found.delays = Delays(*made, *proof, where).most();
    return found;
  }

  // Of a schedule between sites.
  Crossed crossed(Operation operation, std::uint32_t lanes, std::uint64_t bytes) const {
    const Placement placement = where.placement();
    return count(call(operation, arguments(operation, bytes), operation == Operation::allgatherv,
                      [&](const Arguments& of_rank) { return build(operation, of_rank, placement, lanes); }));
  }
  // Of an algorithm that knows of no sites: tune::default_between_sites() says by which these go.
  Crossed crossed(Operation operation, const char* algorithm) const {
    const auto found = collectives::algorithm_named(operation, algorithm);
    if (!found) return count(found.error());
    const bool uneven = operation != Operation::alltoall;
    return count(call(operation, arguments(operation, kBytes), uneven,
                      [&](const Arguments& of_rank) { return (*found)->build(of_rank); }));
  }

  // What there is to tell: bytes_of(from, to) of each pair of ranks at different sites.
  template <class BytesOf>
  Bytes least(BytesOf&& bytes_of) const {
    Bytes all;
    for (std::uint32_t from = 0; from < where.ranks(); ++from) {
      for (std::uint32_t to = 0; to < where.ranks(); ++to) {
        const std::uint64_t bytes = bytes_of(from, to);
        if (where.sites[from] != where.sites[to] && bytes != 0) all[{where.sites[from], where.sites[to]}] += bytes;
      }
    }
    return all;
  }
  // `bytes` over each link that counts(from site, to site).
  template <class Counts>
  Bytes of_links(std::uint64_t bytes, Counts&& counts) const {
    Bytes all;
    for (const std::int32_t from : where.sites) {
      for (const std::int32_t to : where.sites) {
        if (from != to && counts(from, to)) all[{from, to}] = bytes;
      }
    }
    return all;
  }
};

// Calls visit(group) for groups of two to four sites, each with some roots.
template <class Visit>
void for_each_group(Visit&& visit) {
  std::mt19937 random(1);
  const std::vector<Sizes> some = {{1, 1}, {1, 5}, {8, 3}, {3, 2, 4}, {1, 1, 1}, {2, 4, 1, 3}};
  for (const Sizes& sizes : some) {
    for (const Order order : {Order::blocks, Order::turns}) {
      for (const std::uint32_t per_node : {1U, 2U}) {
        Group group{.where = make(sizes, per_node, order, random), .root = 0};
        for (const std::uint32_t root : {0U, group.where.ranks() / 2, group.where.ranks() - 1}) {
          group.root = root;
          SCOPED_TRACE(group.words());
          visit(group);
        }
      }
    }
  }
}

void expect(const Crossed& found, const Bytes& bytes, std::uint32_t delays) {
  EXPECT_EQ(found.bytes, bytes);
  EXPECT_EQ(found.delays, delays);
}

// Each block goes to, or comes from, each other site once.
TEST(Crossing, OfBlocksIsTheLeast) {
  for_each_group([](const Group& group) {
    const auto from_root = [&](std::uint32_t from, std::uint32_t) { return from == group.root ? kBytes : 0; };
    const auto to_root = [&](std::uint32_t, std::uint32_t to) { return to == group.root ? kBytes : 0; };
    std::map<std::int32_t, std::uint32_t> first;  // of each site, which stands for it
    for (std::uint32_t rank = 0; rank < group.where.ranks(); ++rank) first.try_emplace(group.where.sites[rank], rank);
    const collectives::ArgumentsOfAll uneven(Operation::allgatherv, group.arguments(Operation::allgatherv, kBytes),
                                             true);
    const auto block_of = uneven.ranks()[0].recv.bytes;
    const auto to_all = [&](std::uint32_t, std::uint32_t to) {
      return first[group.where.sites[to]] == to ? kBytes : 0;
    };
    const auto uneven_to_all = [&](std::uint32_t from, std::uint32_t to) {
      return first[group.where.sites[to]] == to ? block_of[from] : 0;
    };
    for (const std::uint32_t lanes : {0U, 1U, 3U, 8U}) {
      SCOPED_TRACE(lanes);
      expect(group.crossed(Operation::scatter, lanes, kBytes), group.least(from_root), 1);
      expect(group.crossed(Operation::gather, lanes, kBytes), group.least(to_root), 1);
      expect(group.crossed(Operation::allgather, lanes, kBytes), group.least(to_all), 1);
      expect(group.crossed(Operation::allgatherv, lanes, kBytes), group.least(uneven_to_all), 1);
    }
  });
}

// The buffer goes once to, or comes once from, each other site.
TEST(Crossing, OfBuffersIsTheLeast) {
  for_each_group([](const Group& group) {
    const auto any = [](std::int32_t, std::int32_t) { return true; };
    const auto from_home = [&](std::int32_t from, std::int32_t) { return from == group.home(); };
    const auto to_home = [&](std::int32_t, std::int32_t to) { return to == group.home(); };
    const std::uint64_t sites = group.where.placement().sites();
    for (const std::uint32_t lanes : {1U, 3U, 8U}) {
      SCOPED_TRACE(lanes);
      expect(group.crossed(Operation::bcast, lanes, kBytes), group.of_links(kBytes, from_home), 1);
      expect(group.crossed(Operation::reduce, lanes, kBytes), group.of_links(kBytes, to_home), 1);
      expect(group.crossed(Operation::allreduce, lanes, kBytes), group.of_links(kBytes, any), 1);
      // Large, of three sites and more: each site's part to it, and its part of the result.
      constexpr std::uint64_t kLarge = 9 * 12 * 1024;
      static_assert(kLarge > kOneDelay);
      const std::uint64_t bytes = sites == 2 ? kLarge : 2 * kLarge / sites;
      expect(group.crossed(Operation::allreduce, lanes, kLarge), group.of_links(bytes, any), sites == 2 ? 1 : 2);
    }
  });
}

TEST(Crossing, OfABarrierIsOneDelay) {
  for_each_group([](const Group& group) { EXPECT_EQ(group.crossed(Operation::barrier, 1, 0).delays, 1U); });
}

// What has no schedule between sites goes straight from rank to rank.
TEST(Crossing, WithoutLeadersIsTheLeast) {
  for_each_group([](const Group& group) {
    const auto arguments = [&](Operation operation) {
      return collectives::ArgumentsOfAll(operation, group.arguments(operation, kBytes), true);
    };
    const auto in_gather = arguments(Operation::gatherv), in_scatter = arguments(Operation::scatterv);
    const auto in_exchange = arguments(Operation::alltoallv);
    const auto gathered = [&](std::uint32_t from, std::uint32_t to) {
      return to == group.root ? in_gather.ranks()[to].recv.bytes[from] : 0;
    };
    const auto scattered = [&](std::uint32_t from, std::uint32_t to) {
      return from == group.root ? in_scatter.ranks()[from].send.bytes[to] : 0;
    };
    const auto exchanged = [&](std::uint32_t from, std::uint32_t to) {
      return in_exchange.ranks()[from].send.bytes[to];
    };
    const auto even = [](std::uint32_t, std::uint32_t) { return kBytes; };
    expect(group.crossed(Operation::gatherv, "linear"), group.least(gathered), 1);
    expect(group.crossed(Operation::scatterv, "linear"), group.least(scattered), 1);
    expect(group.crossed(Operation::alltoall, "spread"), group.least(even), 1);
    expect(group.crossed(Operation::alltoallv, "spread"), group.least(exchanged), 1);
  });
}

}  // namespace
}  // namespace urakata::lanes
