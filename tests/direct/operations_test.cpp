// SPDX-License-Identifier: BSD-3-Clause
// Threads as the ranks of a communicator start random operations in one order, with several under way, and finish them
// in random orders. All results are those that each rank computes from what it knows of the others' operands.
#include "direct/operations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "../seed.hpp"
#include "direct/control_segment.hpp"
#include "direct/direct_collectives.hpp"

namespace urakata::direct::operations_test {
namespace {

using Shape = Operation::Shape;
using Word = std::uint64_t;

void yield_until(bool (*over)(const void*), const void* state) {
  while (!over(state)) std::this_thread::yield();
}

// right = left * 3 + right * 5: neither commutes nor is associative, so the order and the grouping show.
void apply_mix(const reduce::Reducer& /*self*/, const void* in, void* inout, std::uint64_t count) {
  const auto* left = static_cast<const Word*>(in);
  auto* right = static_cast<Word*>(inout);
  for (std::uint64_t i = 0; i < count; ++i) right[i] = left[i] * 3 + right[i] * 5;
}
const reduce::Reducer kMix{apply_mix, sizeof(Word), sizeof(Word), false, false};

// x -> a x modulo 2^64, which is associative: scans group from the left.
void apply_product(const reduce::Reducer& /*self*/, const void* in, void* inout, std::uint64_t count) {
  const auto* left = static_cast<const Word*>(in);
  auto* right = static_cast<Word*>(inout);
  for (std::uint64_t i = 0; i < count; ++i) right[i] *= left[i];
}
const reduce::Reducer kProduct{apply_product, sizeof(Word), sizeof(Word), true, false};

enum class Move : std::uint8_t { bcast, gather, scatter, allgather, alltoall, alltoallv, count };

struct Step {
  Shape shape;
  Move move;
  std::uint64_t words;  // of one block
  std::uint32_t root;
  bool in_place;
  bool scattered;
  bool callers_only;
  std::uint64_t number;
};

std::vector<Step> steps_of(std::uint64_t seed, std::uint32_t ranks, std::uint64_t count) {
  std::mt19937_64 random(seed);
  std::vector<Step> steps;
  for (std::uint64_t i = 0; i < count; ++i) {
    constexpr std::array<std::uint64_t, 5> kMost = {1, 12, 200, 2000,
                                                    40'000};  // in a slot, in a bounce buffer, in place
    const std::uint64_t most = kMost[random() % kMost.size()];
    const bool moves = random() % 2 == 0;
    steps.push_back({moves ? Shape::moves : static_cast<Shape>(random() % static_cast<unsigned>(Shape::failure)),
                     static_cast<Move>(random() % static_cast<unsigned>(Move::count)), random() % (most + 1),
                     static_cast<std::uint32_t>(random() % ranks), random() % 3 == 0, random() % 4 == 0,
                     random() % 4 == 0, i});
  }
  return steps;
}

Word word(const Step& step, std::uint32_t rank, std::uint64_t i) { return step.number * 977 + rank * 13 + i * 2 + 1; }

// One rank's part in a step: its buffers, and what it expects.
class Part final : public Operation {
 public:
  Part(const Step& step, std::uint32_t rank, std::uint32_t ranks) : step_(step), rank_(rank), ranks_(ranks) {
    shape = step.shape;
    root = step.root;
    callers_only = step.callers_only;
    if (shape == Shape::moves) move();
    if (shape == Shape::moves || shape == Shape::barrier) return;
    reducer = shape == Shape::scan || shape == Shape::exscan ? &kProduct : &kMix;
    reduce();
  }

  bool right() const {
    if (outcome() != Outcome::good) return false;
    for (std::size_t i = 0; i < expected_.size(); ++i) {
      if (result_at(i) != expected_[i]) return false;
    }
    return true;
  }

 private:
  std::byte* bytes(std::vector<Word>& words) { return std::as_writable_bytes(std::span(words)).data(); }
  Word result_at(std::size_t i) const { return in_place_ ? own_[i] : come_[i]; }

  std::vector<Word> operands(std::uint32_t rank, std::uint64_t count) const {
    std::vector<Word> made(count);
    for (std::uint64_t i = 0; i < count; ++i) made[i] = word(step_, rank, i);
    return made;
  }
  Word reduced(std::uint64_t i) const {
    Word made = word(step_, ranks_ - 1, i);
    for (std::uint32_t rank = ranks_ - 1; rank != 0; --rank) made = word(step_, rank - 1, i) * 3 + made * 5;
    return made;
  }

  void reduce() {
    const bool block = shape == Shape::reduce_scatter;
    const std::uint64_t count = step_.words * (block ? ranks_ : 1);
    own_ = operands(rank_, count);
    come_.assign(step_.words, 7);
    payload = std::as_bytes(std::span(own_));
    result = {rank_ * step_.words * sizeof(Word), step_.words * sizeof(Word), count * sizeof(Word)};
    const bool gets = shape != Shape::reduce || rank_ == root;
    in_place_ = step_.in_place && gets && !block;
    if (in_place_ && Operations::is_short(payload.size())) {
      packed.assign(payload.begin(), payload.end());
      payload = packed;
    }
    if (gets) out = in_place_ ? bytes(own_) : bytes(come_);
    if (!gets) return;
    for (std::uint64_t i = 0; i < step_.words; ++i) {
      if (shape == Shape::scan || shape == Shape::exscan) {
        const std::uint32_t operands = shape == Shape::scan ? rank_ + 1 : rank_;
        Word product = 1;
        for (std::uint32_t rank = 0; rank < operands; ++rank) product *= word(step_, rank, i);
        expected_.push_back(operands == 0 ? (in_place_ ? own_[i] : 7) : product);
      } else {
        expected_.push_back(reduced(block ? rank_ * step_.words + i : i));
      }
    }
  }

  void take(std::uint32_t from, std::uint64_t offset, std::uint64_t of, std::uint64_t words, Word* to) {
    targets[from - first].range = {offset * sizeof(Word), words * sizeof(Word), of * sizeof(Word)};
    targets[from - first].to = reinterpret_cast<std::byte*>(to);
  }

  // Words that rank `from` sends to rank `to` in an alltoallv.
  std::uint64_t part(std::uint32_t from, std::uint32_t to) const { return (from + 2 * to) % 3 * step_.words; }

  void move() {
    const bool at_root = rank_ == step_.root;
    const bool from_root = step_.move == Move::bcast || step_.move == Move::scatter;
    const bool blocks = step_.move == Move::scatter || step_.move == Move::alltoall;
    scattered = step_.scattered;
    readers = step_.move == Move::gather ? Ranks{1} << step_.root : ~Ranks{0};
    if (step_.move == Move::alltoallv) return move_parts();
    own_ = operands(rank_, step_.words * (blocks ? ranks_ : 1));
    if (!from_root || at_root) payload = std::as_bytes(std::span(own_));
    first = from_root ? step_.root : 0;
    if (step_.move == Move::gather && !at_root) return;
    targets.resize(from_root ? 1 : ranks_);
    come_.assign(step_.words * targets.size(), 7);
    places_.resize(targets.size());
    for (std::uint32_t i = 0; i < targets.size(); ++i) {
      Word* const to = places_[i] = come_.data() + i * step_.words;
      const std::uint64_t offset = blocks ? rank_ * step_.words : 0;
      take(first + i, offset, blocks ? step_.words * ranks_ : step_.words, step_.words, to);
      for (std::uint64_t k = 0; k < step_.words; ++k) expected_.push_back(word(step_, first + i, offset + k));
    }
  }

  void move_parts() {
    std::uint64_t sent = 0;
    std::uint64_t got = 0;
    for (std::uint32_t other = 0; other < ranks_; ++other) sent += part(rank_, other), got += part(other, rank_);
    own_ = operands(rank_, sent);
    come_.assign(got, 7);
    targets.resize(ranks_);
    places_.resize(ranks_);
    const auto* from = std::as_bytes(std::span(own_)).data();
    Word* to = come_.data();
    for (std::uint32_t other = 0; other < ranks_; ++other) {
      parts.push_back({from, part(rank_, other) * sizeof(Word)});
      from += parts.back().bytes;
      const std::uint64_t words = part(other, rank_);
      places_[other] = to;
      take(other, 0, words, words, to);
      to += words;
      std::uint64_t before = 0;
      for (std::uint32_t third = 0; third < rank_; ++third) before += part(other, third);
      for (std::uint64_t k = 0; k < words; ++k) expected_.push_back(word(step_, other, before + k));
    }
  }

  void put(std::size_t index, std::span<const std::byte> range) override {
    std::memcpy(places_[index], range.data(), range.size());
  }

  const Step step_;
  const std::uint32_t rank_;
  const std::uint32_t ranks_;
  bool in_place_ = false;
  std::vector<Word> own_;
  std::vector<Word> come_;
  std::vector<Word> expected_;
  std::vector<Word*> places_;
};

struct Job {
  explicit Job(std::uint32_t count) : ports(count) {
    std::vector<p2p::Port*> all;
    for (p2p::Port& port : ports) all.push_back(&port);
    ControlSegment* const segment = ControlSegment::make(count);
    for (std::uint32_t rank = 0; rank < count; ++rank) {
      collectives.push_back(std::make_unique<Collectives>(*segment, rank, all, Waiting{20, 0, count > 2, yield_until}));
    }
  }
  ~Job() {
    collectives.clear();
    ControlSegment::reclaim();
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  Operations& rank(std::uint32_t number) { return collectives[number]->nonblocking(); }

  template <class Run>
  void each(Run run) {
    std::vector<std::thread> threads;
    for (auto& direct : collectives) threads.emplace_back([&direct, &run] { run(direct->nonblocking()); });
    for (std::thread& thread : threads) thread.join();
  }

  std::vector<p2p::Port> ports;
  std::vector<std::unique_ptr<Collectives>> collectives;
};

void expect_right(const Part& part, const Step& step, const Operations& operations) {
  EXPECT_TRUE(part.right()) << "rank " << operations.rank() << " of " << operations.ranks() << ", step " << step.number
                            << ", shape " << static_cast<int>(step.shape) << ", move " << static_cast<int>(step.move)
                            << ", " << step.words << " words, root " << step.root;
}

// Runs the steps with up to `most` operations under way.
void run(Operations& operations, const std::vector<Step>& steps, std::size_t most, std::uint64_t seed) {
  std::mt19937_64 dice(seed + operations.rank());
  std::deque<std::unique_ptr<Part>> open;
  std::deque<const Step*> their;
  const auto end_one = [&](std::size_t i) {
    operations.await(*open[i]);
    expect_right(*open[i], *their[i], operations);
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
    their.erase(their.begin() + static_cast<std::ptrdiff_t>(i));
  };
  for (const Step& step : steps) {
    if (::testing::Test::HasFailure()) break;
    open.push_back(std::make_unique<Part>(step, operations.rank(), operations.ranks()));
    their.push_back(&step);
    operations.start(*open.back());
    const std::uint64_t pause = dice() % 64;
    if (pause < 4) std::this_thread::yield();
    if (pause == 5) std::this_thread::sleep_for(std::chrono::microseconds(dice() % 50));
    if (pause == 6) operations.progress(Operations::Caller::progress_thread);
    while (open.size() > dice() % most) end_one(dice() % open.size());
  }
  while (!open.empty()) end_one(open.size() - 1);
}

class OperationsOf : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(OperationsOf, RandomOperationsGiveTheirResults) {
  const std::uint64_t seed = drawn_seed();
  const std::vector<Step> steps = steps_of(seed, GetParam(), 600);
  Job job(GetParam());
  job.each([&](Operations& operations) { run(operations, steps, 5, seed); });
}

TEST_P(OperationsOf, MoreMayBeUnderWayThanThereArePostings) {
  const std::uint64_t seed = drawn_seed();
  std::vector<Step> steps = steps_of(seed, GetParam(), 400);
  for (Step& step : steps) step.words = std::min<std::uint64_t>(step.words, 500);
  Job job(GetParam());
  job.each([&](Operations& operations) { run(operations, steps, 3 * OperationBlock::kPostings, seed); });
}

// A second thread of each rank makes progress, as a progress thread does.
TEST_P(OperationsOf, AThreadMayMakeProgressMeanwhile) {
  const std::uint64_t seed = drawn_seed();
  const std::vector<Step> steps = steps_of(seed, GetParam(), 200);
  Job job(GetParam());
  std::atomic<bool> over{false};
  std::thread progress([&] {
    while (!over) {
      if (!Operations::progress_all(Operations::Caller::progress_thread)) std::this_thread::yield();
    }
  });
  job.each([&](Operations& operations) { run(operations, steps, 4, seed); });
  over = true;
  progress.join();
}
INSTANTIATE_TEST_SUITE_P(Direct, OperationsOf, ::testing::Values(1, 2, 3, 5, 8));

// The rank that waits does all the work: the other one only starts, and finds its result.
class LateRank : public ::testing::TestWithParam<Shape> {};

TEST_P(LateRank, GetsItsResultFromTheRankThatWaits) {
  for (const Move move : {Move::allgather, Move::alltoall, Move::bcast}) {
    Job job(2);
    const Step step{GetParam(), move, 100'000, 0, false, false, false, 3};
    Part late(step, 1, 2);
    Part waiting(step, 0, 2);
    EXPECT_TRUE(job.rank(1).start(late));
    job.rank(0).start(waiting);
    job.rank(0).await(waiting);
    expect_right(waiting, step, job.rank(0));
    EXPECT_FALSE(late.finished());  // only its own thread says so
    job.rank(1).progress(Operations::Caller::program);
    EXPECT_TRUE(late.finished());
    expect_right(late, step, job.rank(1));
    if (GetParam() != Shape::moves) break;
  }
}
INSTANTIATE_TEST_SUITE_P(Direct, LateRank,
                         ::testing::Values(Shape::moves, Shape::allreduce, Shape::reduce_scatter, Shape::scan));

TEST(Operations, ARankThatFailsKeepsItsPlaceInTheOrder) {
  Job job(3);
  for (const std::uint64_t words : {1U, 5000U}) {
    const Step failing{Shape::allreduce, Move::bcast, words, 0, false, false, false, 1};
    const Step next{Shape::allreduce, Move::bcast, words, 0, false, false, false, 2};
    job.each([&](Operations& operations) {
      Part first(failing, operations.rank(), 3);
      if (operations.rank() == 1) {
        operations.fail();
      } else {
        operations.start(first);
        operations.await(first);
        EXPECT_EQ(first.outcome(), Outcome::failed);
      }
      Part second(next, operations.rank(), 3);
      operations.start(second);
      operations.await(second);
      EXPECT_TRUE(second.right());
    });
  }
}

TEST(Operations, AnotherLengthIsReportedAndNotRead) {
  Job job(2);
  for (const std::uint64_t longer : {2U, 100U, 50'000U}) {  // in a slot, in a bounce buffer, in place
    for (const Shape shape : {Shape::allreduce, Shape::reduce_scatter, Shape::scan, Shape::moves}) {
      job.each([&](Operations& operations) {
        const std::uint64_t words = operations.rank() == 0 ? 1 : longer;
        Part part(Step{shape, Move::alltoall, words, 0, false, false, false, 1}, operations.rank(), 2);
        operations.start(part);
        operations.await(part);
        const bool needs_less = operations.rank() == 1 && shape == Shape::moves;  // short payloads are not an error
        const bool reads_nothing = operations.rank() == 0 && shape == Shape::scan;
        const bool good = needs_less || reads_nothing;
        EXPECT_EQ(part.outcome(), good ? Outcome::good : Outcome::truncated) << static_cast<int>(shape);
        Part barrier(Step{Shape::barrier, Move::bcast, 0, 0, false, false, false, 2}, operations.rank(), 2);
        operations.start(barrier);
        operations.await(barrier);
        EXPECT_TRUE(barrier.right());
      });
    }
  }
}

}  // namespace
}  // namespace urakata::direct::operations_test
