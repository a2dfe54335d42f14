// SPDX-License-Identifier: BSD-3-Clause
#include "tune/decision.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <initializer_list>

namespace urakata::tune {
namespace {

using collectives::Operation;

struct Candidate {
  const char* algorithm;
  double cost;
  const char* why;
  std::uint64_t segment = 0;
};

// The cheapest candidate; the first of equals.
Choice best(std::initializer_list<Candidate> candidates) {
  const Candidate& it = *std::min_element(candidates.begin(), candidates.end(),
                                          [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; });
  return {it.algorithm, it.segment, it.why};
}

constexpr std::uint64_t kWhole = std::uint64_t{1} << 40U;  // a segment longer than any message, so none is cut

const LinkCosts& link(const Costs& costs, Medium medium) {
  switch (medium) {
    case Medium::node:
      return costs.node;
    case Medium::crowded:
      return costs.crowded;
    case Medium::native:
      return costs.native;
    case Medium::wire:
      break;
  }
  return costs.wire;
}
constexpr bool inside_node(Medium medium) { return medium == Medium::node || medium == Medium::crowded; }
std::uint64_t longest_segment(const Costs& costs, Medium medium) {
  return static_cast<std::uint64_t>(link(costs, medium).segment_bytes);
}

constexpr double kNever = 1e300;  // the cost of an algorithm that does not suit

constexpr const char* kFewestSteps = "fewest steps";
constexpr const char* kOneStep = "few ranks: one step";
constexpr const char* kPipelined = "large: pipelined, each link carries each byte once";
constexpr const char* kShared = "large: each rank does its share";
constexpr const char* kNeighbours = "large: only neighbours talk";

// The model of costs in ns; names as in docs/algorithms.md. If several ranks share a node and its link, only what
// crosses links counts, and what these ranks send adds up.
class Model {
 public:
  Model(std::uint64_t bytes, std::uint32_t ranks, bool commutative, Medium medium, std::uint32_t ranks_per_node,
        const Costs& costs)
      : one_node_(inside_node(medium)),
        crowded_(medium == Medium::crowded),
        longest_(longest_segment(costs, medium)),
        common_(costs.common),
        c_(link(costs, medium)),
        b_(static_cast<double>(bytes)),
        n_(ranks),
        ranks_per_node_(one_node_ ? 1 : std::min(ranks_per_node, ranks)),
        nodes_(std::ceil(n_ / ranks_per_node_)),
        further_(std::max(n_ - ranks_per_node_ - 1, 0.0)),
        rounds_(std::bit_width(ranks - 1)),
        steps_(std::bit_width(static_cast<std::uint32_t>(nodes_) - 1)),
        folded_(std::has_single_bit(ranks) ? 0 : 1),
        in_order_(!commutative) {}

  Choice bcast() const {
    const Candidate chain = pipeline("chain", 0);
    const double shares = b_ * (n_ - 1) / n_;
    return best(
        {{"binomial", steps_ * (step(b_) + moved(b_)), kFewestSteps},
         {"knomial", std::ceil(steps_ / 2) * (step(b_) + std::min(further_, 2.0) * c_.message + to_all_children()),
          "flat tree: fewest steps"},
         {"knomial", unless(!streams_to_all(), step(b_) + (n_ - 2) * moved(b_)), "flat tree: all read a stream",
          stream_segment()},
         {chain.algorithm, unless(one_node_ && n_ <= common_.few_ranks, chain.cost), chain.why, chain.segment},
         {"scatter_allgather",
          unless((crowded_ && n_ <= common_.few_ranks) || n_ == 2,
                 (steps_ + n_ - 1) * (step(b_ / n_) + (own_cores() ? 2 * c_.message : 0)) + 2 * moved(shares) +
                     passed_on(b_ / n_, 2 * moved(shares))),
          kShared}});
  }

  Choice reduce() const {
    const double shares = b_ * (n_ - 1) / n_;
    return best(
        {{"binomial", steps_ * (step(b_) + moved(b_) + added(b_)), kFewestSteps},
         pipeline("chain", added(1)),
         {"rabenseifner", unless(in_order_, 2 * steps_ * step(b_ / n_) + 2 * moved(halved()) + added(shares) + fold(1)),
          kShared}});
  }

  Choice allreduce() const {
    const double shares = b_ * (n_ - 1) / n_;
    if (crowded_) {  // the number of all messages counts
      return best({{"reduce_bcast", 2 * (n_ - 1) * common_.time_slice + steps_ * (2 * moved(b_) + added(b_)),
                    "shared cores: fewest messages"},
                   {"rabenseifner",
                    unless(in_order_ || n_ == 2,
                           2 * steps_ * n_ * common_.time_slice + 2 * (2 * moved(shares) + added(shares))),
                    kShared, longest_}});
    }
    const double whole = step(b_) + moved(b_) + added(b_);
    return best(
        {{"recursive_doubling", steps_ * (whole + (ranks_per_node_ - 1) * moved(b_)) + fold(1), kFewestSteps},
         {"spread", step(b_) + further_ * c_.message + to_all() + (n_ - 1) * added(b_), kOneStep},
         {"rabenseifner",
          unless(in_order_ || n_ == 2,
                 2 * steps_ * step(b_ / n_) + 2 * moved(halved()) + added(shares) + halves(halved()) + fold(2)),
          kShared, one_node_ ? longest_ : 0},
         {"ring", unless(in_order_ || n_ == 2, 2 * (n_ - 1) * step(b_ / n_) + 2 * moved(shares) + added(shares)),
          kNeighbours},
         {"reduce_bcast", steps_ * (whole + step(b_) + moved(b_)), "order of ranks kept"}});
  }

  Choice reduce_scatter() const {  // b: one block
    const double others = to_all() + (n_ - 1) * added(b_);
    return best(
        {{"pairwise", step(b_) + further_ * c_.message + others, "straight to the blocks' owners"},
         {"recursive_halving",
          unless(in_order_, steps_ * step(b_) + others + folded_ * (2 * step(b_) + n_ * (moved(b_) + added(b_)))),
          kFewestSteps},
         {"ring", unless(in_order_, (n_ - 1) * (step(b_) + moved(b_) + added(b_))), kNeighbours},
         {"reduce_scatterv", steps_ * (2 * step(b_) + n_ * (1.5 * moved(b_) + added(b_))), "order of ranks kept"}});
  }

  Choice allgather(bool neighbour_exchange) const {  // b: one block
    const double others = (n_ - 1) * moved(b_);
    const double paired = ranks_per_node_ > 1 ? n_ * moved(b_) : others;  // two pairs in a link, two blocks at a time
    // In algorithm spread, messages from many ranks contend for the one link or core that has to take them in.
    const double contention = n_ > common_.few_ranks ? 0.5 * to_all()
                              : one_node_            ? read_at_once(others)
                                                     : 0.05 * to_all();
    return best({{"spread", step(b_) + further_ * c_.message + to_all() + contention, kOneStep,
                  own_cores() && n_ > 3 && b_ >= common_.cache_bytes ? longest_ : 0},
                 {"bruck", rounds_ * (step(b_) + c_.message) + doubling() + added(n_ * b_), kFewestSteps},
                 {"ring", (n_ - 1) * step(b_) + others + passed_on(b_, others), kNeighbours},
                 {"neighbour_exchange",
                  unless(!neighbour_exchange,
                         (n_ / 2 + folded_) * step(b_) + (1 + 0.1 * odd()) * paired + pairs_passed_on(others)),
                  kNeighbours}});
  }

  Choice alltoall() const {  // b: one block
    const double others = to_all();
    const double contention = n_ > common_.many_ranks ? 0.25 * others : read_at_once(others);
    return best({{"spread", step(b_) + further_ * c_.message + others + contention, kOneStep},
                 {"bruck",
                  rounds_ * (step(b_) + n_ / 2 * (ranks_per_node_ * moved(b_) + 2 * added(b_)) +
                             2 * common_.pack_block * n_ / 2),
                  "small blocks: fewest messages"},
                 {"pairwise", n_ / 2 * step(b_) + others, "many ranks: one partner a step"}});
  }

  Choice to_or_from_root() const {  // b: one block
    const double others = (n_ - ranks_per_node_) * moved(b_);
    return best({{"linear", step(b_) + further_ * c_.message + others, "each byte travels once"},
                 {"binomial", steps_ * step(b_) + others + n_ / 2 * moved(b_), kFewestSteps}});
  }

  Choice scan() const {
    return best({{"recursive_doubling", rounds_ * (step(b_) + ranks_per_node_ * moved(b_) + added(b_)), kFewestSteps},
                 pipeline("chain", added(1))});
  }

 private:
  static constexpr double kLeastSegment = 16 * 1024;

  double step(double bytes) const { return c_.step + (bytes > common_.eager_bytes ? c_.ask : 0); }
  double moved(double bytes) const { return bytes * c_.byte; }
  double added(double bytes) const { return bytes * c_.add; }
  // What a link carries. to_all, in ns: each rank sends a block to every other. halved, in bytes: nodes exchange halves
  // of the buffer. doubling, in ns: in each step the blocks held go to ranks at twice the distance.
  double to_all() const { return ranks_per_node_ * (n_ - ranks_per_node_) * moved(b_); }
  double halved() const { return b_ * (nodes_ - 1) / nodes_; }
  double doubling() const {
    double blocks = 0;
    for (double distance = 1; distance < n_; distance *= 2) {
      blocks += std::min(ranks_per_node_, distance) * std::min(distance, n_ - distance);
    }
    return blocks * moved(b_);
  }
  double fold(double messages) const { return folded_ * messages * (step(b_) + moved(b_)); }
  // Cost in ns of a rank's messages to several children at once. Children that read the same memory wait for each other
  // in the kernel; they wait longer if the message is longer.
  double to_all_children() const {
    const double readers = std::min(n_ - ranks_per_node_ < 4 ? n_ - ranks_per_node_ : nodes_ - 1, 3.0);
    if (!own_cores() || b_ > common_.flat_bytes) return readers * moved(b_);
    return std::max((b_ <= kLeastSegment ? readers : readers + 1) / 2, 1.0) * moved(b_);
  }
  // Two or three readers of a stream follow each other from segment to segment. The segment's length grows with the
  // square root of the message's, as for a pipeline.
  bool streams_to_all() const { return own_cores() && (n_ == 3 || n_ == 4) && b_ >= 4 * kLeastSegment; }
  std::uint64_t stream_segment() const {
    const double best = std::clamp(std::sqrt(b_ * common_.eager_bytes), kLeastSegment, 128.0 * 1024);
    return std::bit_ceil(static_cast<std::uint64_t>(best));
  }
  // Additional costs of blocks that three (measured) or more (assumed) ranks read at once, and of blocks that have left
  // the cache when they are passed on.
  double read_at_once(double cost) const {
    return own_cores() && b_ > common_.eager_bytes ? 0.25 * std::clamp(n_ - 3, 0.0, 3.0) * cost : 0;
  }
  double passed_on(double block, double cost) const {
    return own_cores() && block >= common_.cache_bytes ? 0.5 * cost : 0;
  }
  double pairs_passed_on(double cost) const { return passed_on(4 * b_, 0.2 * cost) + passed_on(b_, cost); }
  bool own_cores() const { return one_node_ && !crowded_; }
  // Additional cost of recursive halving, which waits for whole halves. A ring has segments under way or, in the caches
  // of one node, short blocks.
  double halves(double bytes) const { return (one_node_ ? own_cores() ? 0.25 : 0 : 0.1) * moved(bytes); }
  double odd() const { return static_cast<std::uint32_t>(n_) % 2; }
  static double unless(bool unfit, double cost) { return unfit ? kNever : cost; }

  // The best segment of a pipeline, and its cost: the first segment makes a hop to each further node, then segment
  // follows segment.
  Candidate pipeline(const char* algorithm, double add_per_byte) const {
    Candidate chosen{algorithm, kNever, kPipelined};
    for (std::uint64_t segment = std::min<std::uint64_t>(16UL * 1024, longest_); segment <= longest_; segment *= 2) {
      const double s = std::min(static_cast<double>(segment), b_);
      const double each = s * (c_.byte + add_per_byte);
      const double segments = s > 0 ? b_ / s : 1;
      const double cost = (nodes_ - 1) * (c_.step + each) + (segments - 1) * (c_.segment + each);
      if (cost < chosen.cost) {
        chosen.cost = cost;
        chosen.segment = segment;
      }
    }
    return chosen;
  }

  bool one_node_;
  bool crowded_;
  std::uint64_t longest_;  // bytes of the longest segment
  const CommonCosts& common_;
  const LinkCosts& c_;
  double b_;               // bytes
  double n_;               // ranks
  double ranks_per_node_;  // ranks that share a link
  double nodes_;           // n / ranks_per_node, rounded up
  double further_;         // messages over links from one rank to all others, except the first
  double rounds_;          // log2 of n, rounded up
  double steps_;           // steps of a tree or of halving that cross links: log2 of the nodes, rounded up
  double folded_;          // 1 where n is no power of two
  bool in_order_;
};

Choice algorithm_for(Operation operation, std::uint64_t bytes, std::uint32_t ranks, bool commutative, Medium medium,
                     std::uint32_t ranks_per_node, const Costs& costs) {
  const Model model(bytes, ranks, commutative, medium, ranks_per_node, costs);
  switch (operation) {
    case Operation::barrier:
      return {"dissemination", 0, kFewestSteps};
    case Operation::bcast:
      return model.bcast();
    case Operation::gather:
    case Operation::scatter:
      return model.to_or_from_root();
    case Operation::gatherv:
    case Operation::scatterv:
      return {"linear", 0, "only the root knows the blocks' sizes"};
    case Operation::allgather:
      return model.allgather(true);
    case Operation::allgatherv:
      return model.allgather(false);
    case Operation::alltoall:
      return model.alltoall();
    case Operation::alltoallv:
      if (ranks <= costs.common.many_ranks) return {"spread", 0, kOneStep};
      return {"pairwise", 0, "many ranks: one partner a step"};
    case Operation::neighbor_alltoallv:
      return {"spread", 0, "each block goes straight to its neighbour"};
    case Operation::reduce:
      return model.reduce();
    case Operation::allreduce:
      return model.allreduce();
    case Operation::reduce_scatter:
    case Operation::reduce_scatter_block:
      return model.reduce_scatter();
    case Operation::scan:
    case Operation::exscan:
      return model.scan();
    case Operation::count_:
      break;
  }
  return {};
}

}  // namespace

Choice choose(Operation operation, std::uint64_t bytes, std::uint32_t ranks, bool commutative, Medium medium,
              std::uint32_t ranks_per_node, const Costs& costs) {
  Choice choice = algorithm_for(operation, bytes, ranks, commutative, medium, ranks_per_node, costs);
  if (choice.segment == 0) choice.segment = inside_node(medium) ? kWhole : longest_segment(costs, medium);
  return choice;
}

// Measured with in_turn, as parts of the time with eight receives posted: on four ranks with a core each, an allreduce
// of 4 MiB by ring takes 0.7, an allgather of blocks of 1 MiB 0.75. If ranks share cores, both take up to twice as
// long: a time slice for each step.
bool receives_in_turn(Medium medium) { return medium == Medium::node; }

bool blocking_pays(Medium medium) { return medium == Medium::wire; }

bool inputs_only_pays(std::uint64_t bytes, std::uint32_t ranks, const Costs& costs) {
  return ranks <= costs.common.inputs_ranks && static_cast<double>(bytes) * ranks <= costs.common.inputs_bytes;
}

std::uint64_t segment_of(Medium medium, const Costs& costs) {
  return inside_node(medium) ? 0 : longest_segment(costs, medium);
}

}  // namespace urakata::tune
