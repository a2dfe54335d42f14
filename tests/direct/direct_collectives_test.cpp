// SPDX-License-Identifier: BSD-3-Clause
// Threads as the ranks of a communicator perform random operations in one order, and stop at random between them. All
// results are those that each rank computes from what it knows of the others' operands.
#include "direct/direct_collectives.hpp"

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
#include "direct/control_segment.hpp"

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
  reduce_scatter,
  scan,
  exscan,
  bcast,
  gather,
  scatter,
  allgather,
  alltoall,
  alltoallv,
  scatterv,
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
    constexpr std::array<std::uint64_t, 5> kMost = {1, 3, 60, 200, 2000};  // in a slot, in a bounce buffer, in place
    const std::uint64_t most = kMost[random() % kMost.size()];
    steps.push_back({static_cast<Kind>(random() % static_cast<unsigned>(Kind::count)), random() % (most + 1),
                     static_cast<std::uint32_t>(random() % ranks), random() % 3 == 0, i});
  }
  return steps;
}

class Rank {
 public:
  Rank(Collectives& direct, std::uint64_t seed) : direct_(direct), pauses_(seed + direct.rank()) {}

  void run(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      stop();
      perform(step);
      if (wrong_) return;
    }
  }

 private:
  using Elements = std::vector<Affine>;

  std::uint32_t ranks() const { return direct_.ranks(); }
  std::uint32_t rank() const { return direct_.rank(); }

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
    if (step.kind == Kind::barrier) return expect(direct_.barrier() == Outcome::good, step);
    if (step.kind == Kind::allreduce || step.kind == Kind::reduce) return reduce(step);
    if (step.kind == Kind::reduce_scatter) return reduce_scatter(step);
    if (step.kind == Kind::scan || step.kind == Kind::exscan) return scan(step);
    if (step.kind == Kind::alltoallv || step.kind == Kind::scatterv) return move_parts(step);
    move(step);
  }

  void reduce(const Step& step) {
    const bool everywhere = step.kind == Kind::allreduce;
    const bool gets = everywhere || rank() == step.root;
    Elements own = operands(step, rank(), step.elements);
    Elements result(step.elements);
    Elements& to = step.in_place && gets ? own : result;
    const std::uint64_t size = step.elements * sizeof(Affine);
    expect((everywhere ? direct_.allreduce(at(own), at(to), size, kAffine)
                       : direct_.reduce(at(own), gets ? at(to) : nullptr, size, kAffine, step.root)) == Outcome::good,
           step);
    for (std::uint64_t i = 0; gets && i < step.elements; ++i) expect(to[i] == composed(step, i, ranks()), step);
  }

  // Rank r gets r % 3 times the step's elements.
  void reduce_scatter(const Step& step) {
    std::uint64_t offset = 0;
    std::uint64_t all = 0;
    for (std::uint32_t other = 0; other < ranks(); ++other) {
      if (other == rank()) offset = all;
      all += other % 3 * step.elements;
    }
    const std::uint64_t count = rank() % 3 * step.elements;
    Elements own = operands(step, rank(), all);
    Elements result(count);
    expect(direct_.reduce_scatter(at(own), at(result), count * sizeof(Affine), offset * sizeof(Affine),
                                  all * sizeof(Affine), kAffine) == Outcome::good,
           step);
    for (std::uint64_t i = 0; i < count; ++i) expect(result[i] == composed(step, offset + i, ranks()), step);
  }

  void scan(const Step& step) {
    const bool exclusive = step.kind == Kind::exscan;
    Elements own = operands(step, rank(), step.elements);
    Elements result(step.elements);
    Elements& to = step.in_place ? own : result;
    const Elements before = to;
    expect(direct_.scan(at(own), at(to), step.elements * sizeof(Affine), kAffine, exclusive) == Outcome::good, step);
    for (std::uint64_t i = 0; i < step.elements; ++i) {
      const std::uint32_t operands = exclusive ? rank() : rank() + 1;
      expect(to[i] == (operands == 0 ? before[i] : composed(step, i, operands)), step);
    }
  }

  // Element i of the operands of the first ranks, reduced.
  static Affine composed(const Step& step, std::uint64_t i, std::uint32_t ranks) {
    Affine made = element(step, 0, i);
    for (std::uint32_t other = 1; other < ranks; ++other) made = compose(made, element(step, other, i));
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
    const Outcome outcome = direct_.move(
        posts ? &payload : nullptr, first, end,
        [&](std::uint32_t /*from*/) {
          return Range{offset * sizeof(Affine), block, many ? block * ranks() : block};
        },
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

  // Rank `from` sends (from + 2 * to) % 5 times the step's elements to rank `to`.
  void move_parts(const Step& step) {
    const auto count = [&](std::uint32_t from, std::uint32_t to) { return (from + 2 * to) % 5 * step.elements; };
    const bool all = step.kind == Kind::alltoallv;
    const bool posts = all || rank() == step.root;
    std::vector<Elements> own;
    std::vector<Collectives::Part> parts;
    for (std::uint32_t to = 0; posts && to < ranks(); ++to) {
      own.push_back(operands(step, rank() + 100 * to, count(rank(), to)));
      parts.push_back({at(own.back()), own.back().size() * sizeof(Affine)});
    }
    const std::uint32_t first = all ? 0 : step.root;
    const std::uint32_t end = all ? ranks() : step.root + 1;
    std::vector<Elements> come(ranks());
    const Outcome outcome = direct_.move_parts(
        parts, posts && !all ? end : first, end,
        [&](std::uint32_t from) {
          const std::uint64_t bytes = count(from, rank()) * sizeof(Affine);
          return Range{0, bytes, bytes};
        },
        [&](std::uint32_t from, const std::byte* data, std::uint64_t size) {
          come[from].resize(size / sizeof(Affine));
          std::memcpy(at(come[from]), data, size);
        });
    expect(outcome == Outcome::good, step);
    for (std::uint32_t from = first; from < end; ++from) {
      if (from == rank()) continue;
      expect(come[from] == operands(step, from + 100 * rank(), count(from, rank())), step);
    }
  }

  Collectives& direct_;
  std::mt19937_64 pauses_;
  bool wrong_ = false;
};

struct Ranks {
  explicit Ranks(std::uint32_t count) : ports(count) {
    std::vector<p2p::Port*> all;
    for (p2p::Port& port : ports) all.push_back(&port);
    ControlSegment* const segment = ControlSegment::make(count);
    for (std::uint32_t rank = 0; rank < count; ++rank) {
      collectives.push_back(std::make_unique<Collectives>(*segment, rank, all, Waiting{20, 0, count > 2, yield_until}));
    }
  }
  ~Ranks() {
    collectives.clear();
    ControlSegment::reclaim();
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  template <class Run>
  void each(Run run) {
    std::vector<std::thread> threads;
    for (auto& direct : collectives) threads.emplace_back([&direct, &run] { run(*direct); });
    for (std::thread& thread : threads) thread.join();
  }

  std::vector<p2p::Port> ports;
  std::vector<std::unique_ptr<Collectives>> collectives;
};

class CollectivesOf : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(CollectivesOf, RandomOperationsGiveTheirResults) {
  const std::uint64_t seed = drawn_seed();
  const std::vector<Step> steps = steps_of(seed, GetParam(), 1500);
  Ranks ranks(GetParam());
  ranks.each([&](Collectives& direct) { Rank(direct, seed).run(steps); });
}
INSTANTIATE_TEST_SUITE_P(Direct, CollectivesOf, ::testing::Values(1, 2, 3, 5, 8));

TEST(Collectives, ARankThatFailsKeepsItsPlaceInTheOrder) {
  Ranks ranks(3);
  ranks.each([](Collectives& direct) {
    const std::uint64_t own = direct.rank();
    std::uint64_t sum = 0;
    const auto* const in = reinterpret_cast<const std::byte*>(&own);
    auto* const out = reinterpret_cast<std::byte*>(&sum);
    const reduce::Reducer& add = *reduce::builtin(reduce::Op::sum, reduce::Type::u64);
    if (direct.rank() == 1) {
      direct.fail();
    } else {
      EXPECT_EQ(direct.allreduce(in, out, sizeof sum, add), Outcome::failed);
    }
    EXPECT_EQ(direct.allreduce(in, out, sizeof sum, add), Outcome::good);
    EXPECT_EQ(sum, 3U);
  });
}

TEST(Collectives, AnotherLengthIsReportedAndNotRead) {
  Ranks ranks(2);
  ranks.each([](Collectives& direct) {
    const reduce::Reducer& add = *reduce::builtin(reduce::Op::sum, reduce::Type::u64);
    for (const std::size_t longer : {2U, 100U, 5000U}) {  // in a slot, in a bounce buffer, in place
      std::vector<std::uint64_t> own(direct.rank() == 0 ? 1 : longer, 7);
      auto* const at = std::as_writable_bytes(std::span(own)).data();
      EXPECT_EQ(direct.allreduce(at, at, own.size() * 8, add), Outcome::truncated);
      EXPECT_EQ(own.front(), 7U);
    }
    EXPECT_EQ(direct.barrier(), Outcome::good);
  });
}

}  // namespace
}  // namespace urakata::direct
