// SPDX-License-Identifier: BSD-3-Clause
// Threads as the ranks of a communicator perform random operations in one order, and stop at random between them. All
// results are those that each rank computes from what it knows of the others' operands.
#include "direct/member.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "../seed.hpp"
#include "direct/board.hpp"

namespace urakata::direct {
namespace {

// Waits by yielding: nothing else needs progress here.
void yield_until(bool (*over)(const void*), const void* state) {
  while (!over(state)) std::this_thread::yield();
}

// The affine map x -> a x + b: composition does not commute.
struct Affine {
  std::uint64_t a;
  std::uint64_t b;
  bool operator==(const Affine&) const = default;
};
Affine compose(const Affine& left, const Affine& right) { return {left.a * right.a, left.b * right.a + right.b}; }

void apply_affine(const reduce::Reducer& /*self*/, const void* in, void* inout, std::uint64_t count) {
  const auto* left = static_cast<const Affine*>(in);
  auto* right = static_cast<Affine*>(inout);
  for (std::uint64_t i = 0; i < count; ++i) right[i] = compose(left[i], right[i]);
}
const reduce::Reducer kAffine{apply_affine, sizeof(Affine), sizeof(Affine), false, false};

enum class Kind : std::uint8_t {
  barrier,
  allreduce,
  reduce,
  reduce_scatter_block,
  bcast,
  gather,
  scatter,
  allgather,
  alltoall,
  count
};

struct Step {
  Kind kind;
  std::uint64_t elements;  // of one block
  std::uint32_t root;
  bool in_place;
  std::uint64_t number;
};

std::vector<Step> steps_of(std::uint64_t seed, std::uint32_t ranks, std::uint64_t count) {
  std::mt19937_64 random(seed);
  std::vector<Step> steps;
  for (std::uint64_t i = 0; i < count; ++i) {
    constexpr std::array<std::uint64_t, 5> kMost = {1, 3, 60, 200, 2000};  // in a slot, in a copy, in place
    const std::uint64_t most = kMost[random() % kMost.size()];
    steps.push_back({static_cast<Kind>(random() % static_cast<unsigned>(Kind::count)), random() % (most + 1),
                     static_cast<std::uint32_t>(random() % ranks), random() % 3 == 0, i});
  }
  return steps;
}

class Rank {
 public:
  Rank(Member& member, std::uint64_t seed) : member_(member), pauses_(seed + member.rank()) {}

  void run(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      stop();
      perform(step);
      if (wrong_) return;
    }
  }

 private:
  using Elements = std::vector<Affine>;

  std::uint32_t ranks() const { return member_.ranks(); }
  std::uint32_t rank() const { return member_.rank(); }

  void stop() {
    const std::uint64_t dice = pauses_() % 64;
    if (dice < 4) std::this_thread::yield();
    if (dice == 5) std::this_thread::sleep_for(std::chrono::microseconds(pauses_() % 50));
  }

  static Affine element(const Step& step, std::uint32_t rank, std::uint64_t i) {
    return {step.number * 77 + rank * 5 + i * 2 + 1, step.number + rank * 1000 + i};
  }
  Elements operands(const Step& step, std::uint32_t rank, std::uint64_t count) const {
    Elements made;
    for (std::uint64_t i = 0; i < count; ++i) made.push_back(element(step, rank, i));
    return made;
  }
  static std::span<const std::byte> bytes(const Elements& elements) { return std::as_bytes(std::span(elements)); }
  static std::byte* at(Elements& elements) { return std::as_writable_bytes(std::span(elements)).data(); }

  void expect(bool right, const Step& step) {
    if (right) return;
    wrong_ = true;
    ADD_FAILURE() << "rank " << rank() << " of " << ranks() << ", step " << step.number << ", kind "
                  << static_cast<int>(step.kind) << ", " << step.elements << " elements, root " << step.root;
  }

  void perform(const Step& step) {
    if (step.kind == Kind::barrier) return expect(member_.barrier() == Outcome::good, step);
    if (step.kind == Kind::allreduce || step.kind == Kind::reduce) return reduce(step);
    if (step.kind == Kind::reduce_scatter_block) return reduce_scatter_block(step);
    move(step);
  }

  void reduce(const Step& step) {
    const bool everywhere = step.kind == Kind::allreduce;
    const bool gets = everywhere || rank() == step.root;
    Elements own = operands(step, rank(), step.elements);
    Elements result(step.elements);
    Elements& to = step.in_place && gets ? own : result;
    const std::uint64_t size = step.elements * sizeof(Affine);
    expect((everywhere ? member_.allreduce(at(own), at(to), size, kAffine)
                       : member_.reduce(at(own), gets ? at(to) : nullptr, size, kAffine, step.root)) == Outcome::good,
           step);
    for (std::uint64_t i = 0; gets && i < step.elements; ++i) expect(to[i] == composed(step, i), step);
  }

  void reduce_scatter_block(const Step& step) {
    Elements own = operands(step, rank(), step.elements * ranks());
    Elements result(step.elements);
    expect(member_.reduce_scatter_block(at(own), at(result), step.elements * sizeof(Affine), kAffine) == Outcome::good,
           step);
    for (std::uint64_t i = 0; i < step.elements; ++i) {
      expect(result[i] == composed(step, rank() * step.elements + i), step);
    }
  }

  // Element i of all ranks' operands, reduced.
  Affine composed(const Step& step, std::uint64_t i) const {
    Affine made = element(step, 0, i);
    for (std::uint32_t other = 1; other < ranks(); ++other) made = compose(made, element(step, other, i));
    return made;
  }

  void move(const Step& step) {
    const bool at_root = rank() == step.root;
    const bool many = step.kind == Kind::scatter || step.kind == Kind::alltoall;  // a block for each rank
    const std::uint64_t block = step.elements * sizeof(Affine);
    const Elements own = operands(step, rank(), step.elements * (many ? ranks() : 1));
    const std::span<const std::byte> payload = bytes(own);
    const bool to_all = step.kind == Kind::allgather || step.kind == Kind::alltoall;
    const bool from_root = step.kind == Kind::bcast || step.kind == Kind::scatter;
    const bool posts = to_all || from_root == at_root;
    std::uint32_t first = 0;
    std::uint32_t end = to_all || (step.kind == Kind::gather && at_root) ? ranks() : 0;
    if (from_root && !at_root) first = step.root, end = step.root + 1;
    const std::uint64_t offset = many ? rank() * step.elements : 0;
    Elements come(step.elements * ranks());
    const Outcome outcome = member_.move(posts ? &payload : nullptr, first, end,
                                         {offset * sizeof(Affine), block, many ? block * ranks() : block},
                                         [&](std::uint32_t from, const std::byte* data, std::uint64_t size) {
                                           expect(size == block, step);
                                           std::memcpy(at(come) + from * block, data, size);
                                         });
    expect(outcome == Outcome::good, step);
    for (std::uint32_t from = first; from < end; ++from) {
      for (std::uint64_t i = 0; from != rank() && i < step.elements; ++i) {
        expect(come[from * step.elements + i] == element(step, from, offset + i), step);
      }
    }
  }

  Member& member_;
  std::mt19937_64 pauses_;
  bool wrong_ = false;
};

struct Ranks {
  explicit Ranks(std::uint32_t count) : ports(count) {
    std::vector<p2p::Port*> all;
    for (p2p::Port& port : ports) all.push_back(&port);
    Board* const board = Board::make(count);
    for (std::uint32_t rank = 0; rank < count; ++rank) {
      members.push_back(std::make_unique<Member>(*board, rank, all, Waiting{20, 0, yield_until}));
    }
  }
  ~Ranks() {
    members.clear();
    Board::reclaim();
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  template <class Run>
  void each(Run run) {
    std::vector<std::thread> threads;
    for (auto& member : members) threads.emplace_back([&member, &run] { run(*member); });
    for (std::thread& thread : threads) thread.join();
  }

  std::vector<p2p::Port> ports;
  std::vector<std::unique_ptr<Member>> members;
};

class MemberOf : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(MemberOf, RandomOperationsGiveTheirResults) {
  const std::uint64_t seed = drawn_seed();
  const std::vector<Step> steps = steps_of(seed, GetParam(), 1500);
  Ranks ranks(GetParam());
  ranks.each([&](Member& member) { Rank(member, seed).run(steps); });
}
INSTANTIATE_TEST_SUITE_P(Direct, MemberOf, ::testing::Values(1, 2, 3, 5, 8));

TEST(Member, ARankThatFailsKeepsItsPlaceInTheOrder) {
  Ranks ranks(3);
  ranks.each([](Member& member) {
    const std::uint64_t own = member.rank();
    std::uint64_t sum = 0;
    const auto* const in = reinterpret_cast<const std::byte*>(&own);
    auto* const out = reinterpret_cast<std::byte*>(&sum);
    const reduce::Reducer& add = *reduce::builtin(reduce::Op::sum, reduce::Type::u64);
    if (member.rank() == 1) {
      member.fail();
    } else {
      EXPECT_EQ(member.allreduce(in, out, sizeof sum, add), Outcome::failed);
    }
    EXPECT_EQ(member.allreduce(in, out, sizeof sum, add), Outcome::good);
    EXPECT_EQ(sum, 3U);
  });
}

TEST(Member, AnotherLengthIsReportedAndNotRead) {
  Ranks ranks(2);
  ranks.each([](Member& member) {
    const reduce::Reducer& add = *reduce::builtin(reduce::Op::sum, reduce::Type::u64);
    for (const std::size_t longer : {2U, 100U, 5000U}) {  // in a slot, in a copy, in place
      std::vector<std::uint64_t> own(member.rank() == 0 ? 1 : longer, 7);
      auto* const at = std::as_writable_bytes(std::span(own)).data();
      EXPECT_EQ(member.allreduce(at, at, own.size() * 8, add), Outcome::truncated);
      EXPECT_EQ(own.front(), 7U);
    }
    EXPECT_EQ(member.barrier(), Outcome::good);
  });
}

}  // namespace
}  // namespace urakata::direct
