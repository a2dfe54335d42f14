#include "tune/decision.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <initializer_list>

namespace urakata::tune {
namespace {

using collectives::Operation;

// What a message costs, in nanoseconds. Only the ratios matter, and only roughly: a wrong guess by two moves the border
// between two algorithms to where they differ little. All ranks run the same arithmetic and so come to the same choice.
struct Costs {
  double step;     // from the start of a send until the receiver can go on
  double message;  // of each further one, sent and received, while others are under medium
  double ask;      // more for a step whose message is longer than kEager: the receiver is asked first, and copies
  double segment;  // of each further segment of a stream
  double byte;     // moved
  double add;      // reduced, by byte
};
// Fits the measurements of 2, 3 and 4 ranks with a core each (Granite Rapids, Open MPI 5) within a half.
constexpr Costs kOneNode{.step = 400, .message = 200, .ask = 1800, .segment = 4000, .byte = 0.1, .add = 0.075};
constexpr Costs kCrowded{.step = 1000, .message = 300, .ask = 0, .segment = 2000, .byte = 0.15, .add = 0.1};
// TCP, 1 to 10 Gb/s: between the two, so that neither loses much. It is not measured when a job starts: runs of the
// same job would then add in different orders.
constexpr Costs kNetwork{.step = 20000, .message = 4500, .ask = 0, .segment = 10000, .byte = 4, .add = 0.1};
constexpr double kEager = 4096;

// Where ranks share cores, no message arrives before its receiver has got one: what counts is how many there are in
// all. Of 4 ranks on 2 cores an allreduce of 32 KiB took 1.5 of the host's time as rabenseifner (16 messages), 1.25 as
// recursive doubling (8), 1.0 by medium of rank 0 (6).
constexpr double kTurn = 3000;

struct Candidate {
  const char* algorithm;
  double cost;
  const char* why;
  std::uint64_t segment = 0;
};

// The cheapest; the first of equals.
Choice best(std::initializer_list<Candidate> candidates) {
  const Candidate& it = *std::min_element(candidates.begin(), candidates.end(),
                                          [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; });
  return {it.algorithm, it.segment, it.why};
}

// Messages between nodes are cut into pieces that the host sends without asking the receiver first (Open MPI's TCP:
// below 64 KiB). Measured over four hosts with 1 Gb/s links: allgather and alltoall from 256 KiB up take 0.6 to 0.75 of
// the time that whole messages take, a chain's bcast 0.4 instead of 0.65. On one node whole messages are best: the
// receiver copies each once.
constexpr std::uint64_t kHostSegment = 32UL * 1024;
// The wire asks the receiver from 128 KiB on only. A helper takes 0.85 of the time for pieces of 64 KiB that it takes
// for such of 32 KiB, and no less for longer ones: what has just come is then no longer in the cache when it is sent
// on.
constexpr std::uint64_t kWireSegment = 64UL * 1024;
constexpr std::uint64_t kOneNodeSegment = 256UL * 1024;  // where a reduction follows, it begins before all has arrived
constexpr std::uint64_t kWhole = std::uint64_t{1} << 40U;

constexpr Costs costs_of(Medium medium) {
  return medium == Medium::node ? kOneNode : medium == Medium::crowded ? kCrowded : kNetwork;
}
constexpr bool inside_node(Medium medium) { return medium == Medium::node || medium == Medium::crowded; }
constexpr std::uint64_t network_segment(Medium medium) { return medium == Medium::wire ? kWireSegment : kHostSegment; }

constexpr double kNever = 1e300;  // the cost of what does not suit

constexpr const char* kFewestSteps = "fewest steps";
constexpr const char* kOneStep = "few ranks: one step";
constexpr const char* kPipelined = "large: pipelined, each link carries each byte once";
constexpr const char* kShared = "large: each rank does its share";
constexpr const char* kNeighbours = "large: only neighbours talk";

// The model: names as in docs/algorithms.md. Where several ranks share a node and its link, only what crosses links
// counts, and what all of them send adds up there.
class Model {
 public:
  Model(std::uint64_t bytes, std::uint32_t ranks, bool commutative, Medium medium, std::uint32_t ranks_per_node)
      : one_node_(inside_node(medium)),
        crowded_(medium == Medium::crowded),
        longest_(one_node_ ? kOneNodeSegment : network_segment(medium)),
        c_(costs_of(medium)),
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
         {chain.algorithm, unless(one_node_ && n_ <= kFew, chain.cost), chain.why, chain.segment},
         {"scatter_allgather",
          unless((crowded_ && n_ <= kFew) || n_ == 2,
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
    if (crowded_) {
      return best({{"reduce_bcast", 2 * (n_ - 1) * kTurn + steps_ * (2 * moved(b_) + added(b_)),
                    "shared cores: fewest messages"},
                   {"rabenseifner",
                    unless(in_order_ || n_ == 2, 2 * steps_ * n_ * kTurn + 2 * (2 * moved(shares) + added(shares))),
                    kShared, kOneNodeSegment}});
    }
    const double whole = step(b_) + moved(b_) + added(b_);
    return best(
        {{"recursive_doubling", steps_ * (whole + (ranks_per_node_ - 1) * moved(b_)) + fold(1), kFewestSteps},
         {"spread", step(b_) + further_ * c_.message + to_all() + (n_ - 1) * added(b_), kOneStep},
         {"rabenseifner",
          unless(in_order_ || n_ == 2,
                 2 * steps_ * step(b_ / n_) + 2 * moved(halved()) + added(shares) + halves(halved()) + fold(2)),
          kShared, one_node_ ? kOneNodeSegment : 0},
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
    // All at once, messages from many ranks contend where one link or one core has to take them in.
    const double contention = n_ > kFew ? 0.5 * to_all() : one_node_ ? read_at_once(others) : 0.05 * to_all();
    return best({{"spread", step(b_) + further_ * c_.message + to_all() + contention, kOneStep,
                  own_cores() && n_ > 3 && b_ >= kCached ? kOneNodeSegment : 0},
                 {"bruck", rounds_ * (step(b_) + c_.message) + doubling() + added(n_ * b_), kFewestSteps},
                 {"ring", (n_ - 1) * step(b_) + others + passed_on(b_, others), kNeighbours},
                 {"neighbour_exchange",
                  unless(!neighbour_exchange,
                         (n_ / 2 + folded_) * step(b_) + (1 + 0.1 * odd()) * paired + pairs_passed_on(others)),
                  kNeighbours}});
  }

  Choice alltoall() const {  // b: one block
    const double others = to_all();
    const double contention = n_ > kMany ? 0.25 * others : read_at_once(others);
    return best(
        {{"spread", step(b_) + further_ * c_.message + others + contention, kOneStep},
         {"bruck", rounds_ * (step(b_) + n_ / 2 * (ranks_per_node_ * moved(b_) + 2 * added(b_)) + 2 * kBlock * n_ / 2),
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
  static constexpr double kFew = 8;  // ranks that one can hear all at once
  static constexpr double kMany = 32;
  static constexpr double kSideBySide = 128 * 1024;
  static constexpr double kLeastSegment = 16 * 1024;
  static constexpr double kCached = 1024 * 1024;
  static constexpr double kBlock = 20;  // nanoseconds to pack or unpack one small block

  double step(double bytes) const { return c_.step + (bytes > kEager ? c_.ask : 0); }
  double moved(double bytes) const { return bytes * c_.byte; }
  double added(double bytes) const { return bytes * c_.add; }
  // What a link carries where each rank sends a block to every other; where each reduces and hands on halves, nodes
  // apart, of the buffer; and where block after block goes to ranks at twice the distance.
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
  // Who sends to several at once: those who read the same memory wait for each other in the kernel, the longer the
  // message.
  double to_all_children() const {
    const double readers = std::min(n_ - ranks_per_node_ < 4 ? n_ - ranks_per_node_ : nodes_ - 1, 3.0);
    if (!own_cores() || b_ > kSideBySide) return readers * moved(b_);
    return std::max((b_ <= kLeastSegment ? readers : readers + 1) / 2, 1.0) * moved(b_);
  }
  // In a stream of segments two and three readers follow each other from segment to segment. The segment grows with the
  // square root of the message, as for a pipeline.
  bool streams_to_all() const { return own_cores() && (n_ == 3 || n_ == 4) && b_ >= 4 * kLeastSegment; }
  std::uint64_t stream_segment() const {
    const double best = std::clamp(std::sqrt(b_ * kEager), kLeastSegment, 128.0 * 1024);
    return std::bit_ceil(static_cast<std::uint64_t>(best));
  }
  // More for blocks that three (measured) and more (assumed) read at once, and for blocks that have left the cache when
  // they are passed on.
  double read_at_once(double cost) const {
    return own_cores() && b_ > kEager ? 0.25 * std::clamp(n_ - 3, 0.0, 3.0) * cost : 0;
  }
  double passed_on(double block, double cost) const { return own_cores() && block >= kCached ? 0.5 * cost : 0; }
  double pairs_passed_on(double cost) const { return passed_on(4 * b_, 0.2 * cost) + passed_on(b_, cost); }
  bool own_cores() const { return one_node_ && !crowded_; }
  // Recursive halving waits for halves where a ring has its segments under medium, or, in the caches of one node, short
  // blocks.
  double halves(double bytes) const { return (one_node_ ? own_cores() ? 0.25 : 0 : 0.1) * moved(bytes); }
  double odd() const { return static_cast<std::uint32_t>(n_) % 2; }
  static double unless(bool unfit, double cost) { return unfit ? kNever : cost; }

  // A hop to each further node to fill, then segment after segment.
  Candidate pipeline(const char* algorithm, double add_per_byte) const {
    Candidate chosen{algorithm, kNever, kPipelined};
    for (std::uint64_t segment = 16UL * 1024; segment <= longest_; segment *= 2) {
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
  std::uint64_t longest_;  // segment
  Costs c_;
  double b_;
  double n_;
  double ranks_per_node_;  // ranks that share a link
  double nodes_;           // that have links
  double further_;         // messages over links to all others, but for the first
  double rounds_;          // log2 n, rounded up
  double steps_;           // those over links, by trees and halves: log2 of the nodes, rounded up
  double folded_;          // 1 where n is no power of two
  bool in_order_;
};

Choice algorithm_for(Operation operation, std::uint64_t bytes, std::uint32_t ranks, bool commutative, Medium medium,
                     std::uint32_t ranks_per_node) {
  const Model model(bytes, ranks, commutative, medium, ranks_per_node);
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
      if (ranks <= 32) return {"spread", 0, kOneStep};
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
              std::uint32_t ranks_per_node) {
  Choice choice = algorithm_for(operation, bytes, ranks, commutative, medium, ranks_per_node);
  if (choice.segment == 0) choice.segment = inside_node(medium) ? kWhole : network_segment(medium);
  return choice;
}

// Four ranks with a core each: an allreduce of 4 MiB by ring takes 0.7 of the time that it takes with eight receives
// posted, an allgather of blocks of 1 MiB 0.75. Where ranks share cores it takes up to twice as long, a turn for a
// step.
bool receives_in_turn(Medium medium) { return medium == Medium::node; }

std::uint64_t segment_of(Medium medium) { return inside_node(medium) ? 0 : network_segment(medium); }

}  // namespace urakata::tune
