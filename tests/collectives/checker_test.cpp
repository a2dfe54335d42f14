// SPDX-License-Identifier: BSD-3-Clause
// Every algorithm of every operation proved by the checker for groups of 1 to 64 ranks, and broken schedules found out.
#include "schedule/checker.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "collectives/expectation.hpp"
#include "schedule/builder.hpp"

namespace urakata::collectives::checker_test {
namespace {

struct Named {
  Operation operation;
  const Algorithm* algorithm;
};

std::vector<Named> everything() {
  std::vector<Named> all;
  for (std::size_t i = 0; i < static_cast<std::size_t>(Operation::count_); ++i) {
    const auto operation = static_cast<Operation>(i);
    for (const Algorithm& algorithm : algorithms(operation)) all.push_back({operation, &algorithm});
  }
  return all;
}

// Empty: proved.
std::string proved(const Named& named, const Arguments& common, bool uneven) {
  const ArgumentsOfAll all(named.operation, common, uneven);
  std::vector<schedule::Schedule> schedules;
  for (const Arguments& arguments : all.ranks()) {
    auto built = named.algorithm->build(arguments);
    if (!built) return built.error().message;
    schedules.push_back(std::move(*built));
  }
  const auto proof = schedule::check(schedules, expectation(named.operation, all.ranks()));
  return proof ? "" : proof.error().message;
}

bool full() {
  const char* const value = std::getenv("URAKATA_TEST_FULL");
  return value != nullptr && value[0] == '1';
}

// Does a send or recv come after a reduction, directly or not?
bool a_message_waits_for_a_reduction(const schedule::Schedule& schedule) {
  const auto kind = [&](schedule::NodeId id) { return schedule.nodes()[id].kind; };
  std::vector<schedule::NodeId> later;
  for (schedule::NodeId id = 0; id < schedule.nodes().size(); ++id) {
    if (kind(id) == schedule::Kind::reduce) later.push_back(id);
  }
  std::vector<bool> seen(schedule.nodes().size());
  while (!later.empty()) {
    const schedule::NodeId id = later.back();
    later.pop_back();
    if (seen[id]) continue;
    seen[id] = true;
    if (kind(id) == schedule::Kind::send || kind(id) == schedule::Kind::recv) return true;
    for (const schedule::NodeId next : schedule.successors(id)) later.push_back(next);
  }
  return false;
}

// Each reduction has one algorithm whose ranks send nothing but their inputs, and in that one no rank waits for another
// one to reduce.
TEST(InputsOnly, NoMessageWaitsForAReduction) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(Operation::count_); ++i) {
    const auto operation = static_cast<Operation>(i);
    std::vector<Named> chosen;
    for (const Algorithm& algorithm : algorithms(operation)) {
      if (algorithm.inputs_only) chosen.push_back({operation, &algorithm});
    }
    ASSERT_EQ(chosen.size(), is_reduction(operation) ? 1U : 0U) << name(operation);
    if (chosen.empty()) continue;
    for (std::uint32_t ranks = 2; ranks <= 9; ++ranks) {
      for (const bool commutative : {false, true}) {
        for (const bool in_place : {false, true}) {
          Arguments common{.ranks = ranks, .root = is_rooted(operation) ? ranks / 2 : 0, .in_place = in_place};
          common.bytes = 2 << 20U;  // many segments, if it were cut
          common.element = common.extent = 8;
          common.commutative = commutative;
          common.segment = std::uint64_t{1} << 40U;
          const ArgumentsOfAll all(operation, common, false);
          for (const Arguments& arguments : all.ranks()) {
            auto built = chosen.front().algorithm->build(arguments);
            ASSERT_TRUE(built.ok()) << built.error().message;
            EXPECT_FALSE(a_message_waits_for_a_reduction(*built))
                << built->name() << ", " << ranks << " ranks, rank " << arguments.rank;
          }
        }
      }
    }
  }
}

class EveryAlgorithmIsProved : public ::testing::TestWithParam<Named> {
 protected:
  void check(Arguments common, bool uneven = false) {
    const Operation operation = GetParam().operation;
    if (common.in_place && !may_be_in_place(operation)) return;
    if (!common.commutative && (!is_reduction(operation) || GetParam().algorithm->commutative_only)) return;
    if (common.root != 0 && !is_rooted(operation)) return;
    if (is_reduction(operation)) {
      common.element = 8;
      common.extent = common.extent == 1 ? 8 : common.extent;
    }
    ASSERT_EQ(proved(GetParam(), common, uneven), "")
        << common.ranks << " ranks, root " << common.root << ", " << common.bytes << " bytes, segment "
        << common.segment << (common.in_place ? ", in place" : "") << (common.commutative ? "" : ", not commutative")
        << (uneven ? ", uneven" : "");
  }
  static bool is_v(Operation operation) {
    return operation == Operation::gatherv || operation == Operation::scatterv || operation == Operation::allgatherv ||
           operation == Operation::alltoallv || operation == Operation::neighbor_alltoallv ||
           operation == Operation::reduce_scatter;
  }
};

// All group sizes; all roots of small groups and some of large ones.
TEST_P(EveryAlgorithmIsProved, OneTo64Ranks) {
  for (std::uint32_t ranks = 1; ranks <= 64; ++ranks) {
    for (std::uint32_t root = 0; root < ranks; ++root) {
      const bool some = root <= 1 || root == ranks / 2 || root + 1 == ranks;
      if (ranks > (full() ? 64u : 9u) && !some) continue;
      Arguments common{.ranks = ranks, .root = root, .bytes = 24};
      // One variant of each size; all of them for the smaller groups.
      const bool thin = ranks > 17 && !full();
      for (const bool in_place : {false, true}) {
        for (const bool commutative : {true, false}) {
          if (thin && (in_place != (ranks % 2 == 0) || commutative != (ranks % 3 == 0)) &&
              !(GetParam().algorithm->commutative_only && commutative && in_place == (ranks % 2 == 0)) &&
              !(root == 0 && !in_place && commutative)) {
            continue;
          }
          common.in_place = in_place;
          common.commutative = commutative;
          check(common);
          if (is_v(GetParam().operation)) check(common, true);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// 1000 bytes in segments of 40: windows, rings of buffers and a last segment that is shorter.
TEST_P(EveryAlgorithmIsProved, Segmented) {
  for (const std::uint32_t ranks : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 13u}) {
    for (std::uint32_t root = 0; root < ranks; root += 2) {
      for (const bool in_place : {false, true}) {
        for (const bool commutative : {true, false}) {
          check({.ranks = ranks,
                 .root = root,
                 .in_place = in_place,
                 .bytes = 1000,
                 .commutative = commutative,
                 .segment = 40},
                ranks % 2 == 1 && is_v(GetParam().operation));
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// Elements of 8 bytes every 24, and nothing at all to send.
TEST_P(EveryAlgorithmIsProved, HolesAndNothing) {
  for (const std::uint32_t ranks : {1u, 2u, 3u, 7u, 8u}) {
    for (const bool commutative : {true, false}) {
      if (is_reduction(GetParam().operation)) {
        check({.ranks = ranks, .bytes = 8 * 37, .extent = 24, .commutative = commutative, .segment = 64});
      }
      check({.ranks = ranks, .bytes = 0, .commutative = commutative});
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryAlgorithmIsProved, ::testing::ValuesIn(everything()), [](const auto& named) {
  return std::string(name(named.param.operation)) + "_" + std::string(named.param.algorithm->name);
});

// Two ranks exchange 8 bytes and combine them: rank 0 as (0 1), rank 1 as (0 1) or, with itself on the left, as (1 0).
// Both are the sum, but a NaN or a zero's sign may then differ between the ranks.
TEST(SameBits, RanksThatTakeThemselvesAsTheLeftOperandAreFound) {
  const auto schedules = [](bool alike) {
    std::vector<schedule::Schedule> both;
    for (std::uint32_t r = 0; r < 2; ++r) {
      schedule::Builder b("allreduce/by hand", 2, r);
      const schedule::BufferId theirs = b.temp(8);
      const schedule::Place input{.buffer = schedule::kSendBuffer}, result{.buffer = schedule::kRecvBuffer};
      b.send(1 - r, input, 8);
      if (r == 1 && alike) {
        const auto copied = b.copy(input, result, 8, 8);
        const auto reduced = b.reduce({.buffer = theirs}, result, 8, 8);
        b.after(b.recv(0, {.buffer = theirs}, 8), reduced);
        b.after(copied, reduced);
      } else {
        const auto got = b.recv(1 - r, result, 8);
        b.after(got, b.reduce(input, result, 8, 8));
      }
      both.push_back(*b.commit());
    }
    return both;
  };
  const ArgumentsOfAll all(Operation::allreduce, {.ranks = 2, .bytes = 8, .element = 8, .extent = 8}, false);
  const auto expected = expectation(Operation::allreduce, all.ranks());
  const auto good = schedule::check(schedules(true), expected);
  EXPECT_TRUE(good.ok()) << good.error().message;
  const auto bad = schedule::check(schedules(false), expected);
  ASSERT_FALSE(bad.ok());
  EXPECT_NE(bad.error().message.find("combined as (1 0), but on rank 0 as (0 1)"), std::string::npos)
      << bad.error().message;
}

// A schedule like another but for one change.
class Broken {
 public:
  explicit Broken(const schedule::Schedule& original)
      : original_(&original),
        nodes_(original.nodes().begin(), original.nodes().end()),
        edges_(original.edges().begin(), original.edges().end()) {}

  schedule::Node& node(schedule::NodeId n) { return nodes_[n]; }
  void drop_edge(std::size_t i) { edges_.erase(edges_.begin() + static_cast<std::ptrdiff_t>(i)); }

  Result<schedule::Schedule> commit() const {
    using schedule::Kind;
    schedule::Builder b(original_->name(), original_->ranks(), original_->rank(), original_->user_buffers());
    for (const std::uint64_t bytes : original_->temps()) b.temp(bytes);
    for (const schedule::Node& node : nodes_) {
      const schedule::Chunks chunks{node.count, node.bytes, node.last_bytes};
      const schedule::Flow flow{node.window, node.channel};
      const auto peer = static_cast<std::uint32_t>(node.peer);
      if (node.kind == Kind::send) b.send(peer, node.a, chunks, flow);
      if (node.kind == Kind::recv) b.recv(peer, node.b, chunks, flow);
      if (node.kind == Kind::copy) b.copy(node.a, node.b, chunks);
      if (node.kind == Kind::reduce) b.reduce(node.a, node.b, chunks);
    }
    for (const schedule::Edge& edge : edges_) {
      if (edge.kind == schedule::EdgeKind::all) b.after(edge.from, edge.to);
      if (edge.kind == schedule::EdgeKind::each) b.each(edge.from, edge.to, edge.distance);
    }
    return b.commit();
  }

 private:
  const schedule::Schedule* original_;
  std::vector<schedule::Node> nodes_;
  std::vector<schedule::Edge> edges_;
};

class Mutation : public ::testing::TestWithParam<Named> {
 protected:
  void SetUp() override {
    const Operation operation = GetParam().operation;
    Arguments common{.ranks = 6, .root = 2, .bytes = 240, .segment = 40};
    if (!is_rooted(operation)) common.root = 0;
    if (is_reduction(operation)) common.element = common.extent = 8;
    const ArgumentsOfAll all(operation, common);
    for (const Arguments& arguments : all.ranks()) schedules_.push_back(*GetParam().algorithm->build(arguments));
    expectation_ = expectation(operation, all.ranks());
    ASSERT_TRUE(schedule::check(schedules_, expectation_).ok());
  }

  // The checker, or already the builder, refuses rank r's schedule after `change`.
  template <class Change>
  bool found(std::uint32_t r, Change change) {
    Broken broken(schedules_[r]);
    change(broken);
    auto rebuilt = broken.commit();
    if (!rebuilt) return true;
    auto schedules = schedules_;
    schedules[r] = std::move(*rebuilt);
    return !schedule::check(schedules, expectation_).ok();
  }

  std::vector<schedule::Schedule> schedules_;
  schedule::Expectation expectation_;
};

TEST_P(Mutation, OfAnyPeerOffsetOrSizeIsFound) {
  for (std::uint32_t r = 0; r < schedules_.size(); ++r) {
    for (schedule::NodeId n = 0; n < schedules_[r].nodes().size(); ++n) {
      const schedule::Node& node = schedules_[r].nodes()[n];
      const bool message = node.peer >= 0;
      const auto where = [&] { return "rank " + std::to_string(r) + ", node " + std::to_string(n); };
      if (message) {
        EXPECT_TRUE(found(r, [&](Broken& b) { b.node(n).peer = (node.peer + 1) % 6; })) << where();
        EXPECT_TRUE(found(r, [&](Broken& b) { b.node(n).channel ^= 0x80; })) << where();
      }
      if (node.bytes == 0) continue;
      EXPECT_TRUE(found(r, [&](Broken& b) { b.node(n).last_bytes -= 1; })) << where();
      if (node.kind != schedule::Kind::send) {
        EXPECT_TRUE(found(r, [&](Broken& b) { b.node(n).b.offset += 8; })) << where();
      }
      if (node.kind != schedule::Kind::recv) {
        EXPECT_TRUE(found(r, [&](Broken& b) { b.node(n).a.offset += 8; })) << where();
      }
    }
  }
}

// All but those whose edges pace and order no data.
class MutationOfOrder : public Mutation {};

std::vector<Named> ordering() {
  std::vector<Named> all = everything();
  std::erase_if(all, [](const Named& one) {
    const bool paces = one.operation == Operation::alltoall || one.operation == Operation::alltoallv;
    return paces && one.algorithm->name == "pairwise";
  });
  return all;
}

// An edge may be dropped unnoticed only where others order the same; the schedule must then still be right for the
// order that remains, which the proof says. Of the edges into sends of received data none may.
TEST_P(MutationOfOrder, DroppedEdgesAreFoundWhereNoOtherEdgeOrdersTheSame) {
  std::size_t dropped = 0;
  std::size_t noticed = 0;
  for (std::uint32_t r = 0; r < schedules_.size(); ++r) {
    for (std::size_t i = 0; i < schedules_[r].edges().size(); ++i) {
      ++dropped;
      if (found(r, [&](Broken& b) { b.drop_edge(i); })) ++noticed;
    }
  }
  RecordProperty("dropped", std::to_string(dropped));
  RecordProperty("noticed", std::to_string(noticed));
  if (dropped > 0) {
    EXPECT_GT(noticed * 2, dropped) << noticed << " of " << dropped;
  }
}

std::string name_of(const ::testing::TestParamInfo<Named>& named) {
  return std::string(name(named.param.operation)) + "_" + std::string(named.param.algorithm->name);
}

INSTANTIATE_TEST_SUITE_P(All, Mutation, ::testing::ValuesIn(everything()), name_of);
INSTANTIATE_TEST_SUITE_P(All, MutationOfOrder, ::testing::ValuesIn(ordering()), name_of);

}  // namespace
}  // namespace urakata::collectives::checker_test
