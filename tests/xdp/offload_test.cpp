// SPDX-License-Identifier: BSD-3-Clause
// Offloads against the same operations in one place, over networks that are good and bad.
#include "xdp/offload.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <ctime>
#include <functional>
#include <random>
#include <utility>

#include "../seed.hpp"
#include "base/clock.hpp"
#include "network.hpp"

namespace {
std::function<void()> instead_of_sleep;
}  // namespace

// In the C library's place: what happens while a rank sleeps.
extern "C" int usleep(useconds_t microseconds) {
  if (instead_of_sleep) {
    instead_of_sleep();
    return 0;
  }
  const timespec time{.tv_sec = microseconds / 1'000'000, .tv_nsec = microseconds % 1'000'000 * 1000L};
  return nanosleep(&time, nullptr);
}

namespace urakata::xdp {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::array kOps = {reduce::Op::sum,  reduce::Op::prod, reduce::Op::min, reduce::Op::max,
                             reduce::Op::band, reduce::Op::bor,  reduce::Op::bxor};
constexpr std::array kTypes = {reduce::Type::i8,  reduce::Type::i16, reduce::Type::i32, reduce::Type::i64,
                               reduce::Type::u8,  reduce::Type::u16, reduce::Type::u32, reduce::Type::u64,
                               reduce::Type::f32, reduce::Type::f64};

// The program's own operation (affine.h), as its ranks have it.
const reduce::Reducer* own_reducer() {
  static const reduce::Reducer reducer = [] {
    reduce::Reducer made;
    made.apply = [](const reduce::Reducer&, const void* in, void* inout, std::uint64_t count) {
      for (std::uint64_t i = 0; i < count; ++i)
        compose(static_cast<const affine*>(in) + i, static_cast<affine*>(inout) + i);
    };
    made.size = made.extent = sizeof(affine);
    made.commutative = false;
    return made;
  }();
  return &reducer;
}

// One collective: what each rank gives, and what it gets.
struct Collective {
  Offload::Work work;
  std::vector<Bytes> give;
  std::vector<Bytes> take;
  Bytes expected;

  bool takes(std::uint32_t rank) const {
    if (URA_XDP_OPERATION(work.form) == URA_XDP_BCAST && URA_XDP_ROOT(work.form) == rank) return false;
    return ura_xdp_needs(work.form, rank, static_cast<std::uint32_t>(give.size())) != 0;
  }
};

// Floating-point numbers that are no NaN: of those only that one comes is promised.
void fill(Bytes& bytes, unsigned type, std::mt19937_64& random) {
  for (std::byte& one : bytes) one = static_cast<std::byte>(random());
  if (type == URA_XDP_F32) {
    for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4) {
      const float value =
          std::ldexp(static_cast<float>(static_cast<std::int32_t>(random())), static_cast<int>(random() % 250) - 160);
      std::memcpy(bytes.data() + at, &value, 4);
    }
  }
  if (type == URA_XDP_F64) {
    for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
      const double value = std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())),
                                      static_cast<int>(random() % 1900) - 1100);
      std::memcpy(bytes.data() + at, &value, 8);
    }
  }
}

Collective any_collective(std::uint32_t ranks, std::mt19937_64& random) {
  Collective made;
  const auto operation = static_cast<std::uint32_t>(random() % 4);
  const bool own = random() % 8 == 0;
  const auto op = own ? std::uint32_t{URA_XDP_OWN} : static_cast<std::uint32_t>(random() % kOps.size());
  const bool bits = op >= URA_XDP_BAND;
  const auto type = own ? 0 : static_cast<std::uint32_t>(random() % (bits ? 8 : kTypes.size()));
  const auto root = static_cast<std::uint32_t>(random() % ranks);
  const reduce::Reducer* const reducer = own ? own_reducer() : reduce::builtin(kOps[op], kTypes[type]);
  const bool reduces = operation == URA_XDP_ALLREDUCE || operation == URA_XDP_REDUCE;
  std::uint32_t bytes = operation == URA_XDP_BARRIER ? 0 : static_cast<std::uint32_t>(1 + random() % URA_XDP_BYTES);
  if (random() % 2 == 0) bytes = std::min(bytes, 64U);
  if (reduces) {
    const auto size = static_cast<std::uint32_t>(reducer->size);
    bytes = std::max(bytes / size, 1U) * size;
    made.work.reducer = reducer;
  }
  made.work.form = URA_XDP_FORM(operation, root, reduces ? op : 0, reduces ? type : 0, bytes);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    made.give.emplace_back(bytes);
    fill(made.give.back(), reduces ? type : 0, random);
    made.take.emplace_back(bytes);
  }
  made.expected = made.give[operation == URA_XDP_BCAST ? root : 0];
  for (std::uint32_t rank = 1; reduces && rank < ranks; ++rank) {
    Bytes joined = made.give[rank];
    reducer->apply(*reducer, made.expected.data(), joined.data(), bytes / reducer->size);
    made.expected = joined;
  }
  return made;
}

bool start(Offload& offload, Collective& one, std::uint32_t rank) {
  return offload.start(one.work, one.give[rank].data(), one.take[rank].data(), &one);
}

// All ranks go through the same collectives, each at its own pace, with up to `most` of them at a time.
void run_all(Network& network, std::vector<Collective>& all, std::size_t most, std::mt19937_64& random) {
  const std::size_t ranks = network.offloads.size();
  std::vector<std::size_t> begun(ranks);
  std::vector<std::size_t> ended(ranks);
  std::vector<Offload::Done> done;
  const auto over = [&] { return std::ranges::all_of(ended, [&](std::size_t count) { return count == all.size(); }); };
  while (!over()) {
    const std::size_t rank = random() % ranks;
    Offload& offload = *network.offloads[rank];
    if (begun[rank] != all.size() && begun[rank] - ended[rank] < most && random() % 2 == 0) {
      ASSERT_TRUE(start(offload, all[begun[rank]], static_cast<std::uint32_t>(rank)));
      ++begun[rank];
    }
    if (random() % 3 == 0) network.deliver(random() % 16 == 0 ? SIZE_MAX : random() % 4);
    done.clear();
    offload.reap(done);
    for (const Offload::Done& one : done) {
      Collective& expected = all[ended[rank]++];
      ASSERT_EQ(one.whose, &expected);
      ASSERT_FALSE(one.failed);
      if (!expected.takes(static_cast<std::uint32_t>(rank))) {
        ASSERT_EQ(expected.take[rank], Bytes(expected.take[rank].size()));
      } else {
        ASSERT_EQ(expected.take[rank], expected.expected)
            << "operation " << ended[rank] - 1 << " form " << expected.work.form;
      }
    }
  }
}

struct Case {
  double losses;
  double doubles;
  bool mixes;
  std::size_t count;
};

class Offloads : public testing::TestWithParam<Case> {};

TEST_P(Offloads, AllRanksHaveTheSameResultsAsOnePlace) {
  const auto seed = drawn_seed();
  std::mt19937_64 random(seed);
  for (const std::uint32_t ranks : {2U, 3U, 5U, 16U}) {
    Network network(ranks, random());
    network.losses = GetParam().losses;
    network.doubles = GetParam().doubles;
    network.mixes = GetParam().mixes;
    std::vector<Collective> all;
    for (std::size_t i = 0; i < GetParam().count; ++i) all.push_back(any_collective(ranks, random));
    run_all(network, all, 1 + random() % (2 * URA_XDP_CELLS), random);
    if (HasFatalFailure()) return;
    EXPECT_EQ(network.passed_on, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, Offloads,
                         testing::Values(Case{0, 0, false, 600}, Case{0, 0.2, true, 400}, Case{0.01, 0.01, true, 200}));

TEST(Offload, OneDelayOfTheRanksThatWaitAndNoneForTheOthers) {
  Network network(3);
  std::mt19937_64 random(1);
  Collective one = any_collective(3, random);
  one.work.form = URA_XDP_FORM(URA_XDP_BARRIER, 0, 0, 0, 0);
  for (std::uint32_t rank = 0; rank < 3; ++rank) ASSERT_TRUE(start(*network.offloads[rank], one, rank));
  network.deliver();
  for (const auto& offload : network.offloads) {
    std::vector<Offload::Done> done;
    offload->reap(done);
    EXPECT_EQ(done.size(), 1U);
    EXPECT_EQ(offload->counts().frames, 2U);  // one to each other
  }
}

// Its number at the interface stands in the form, and its elements are as long as the datatype's.
TEST(Offload, ProgramsOperationsAreKnownByName) {
  const Network network(2);
  const Offload& offload = *network.offloads[0];
  EXPECT_EQ(offload.op_named("affine", sizeof(affine)), std::uint32_t{URA_XDP_OWN});
  EXPECT_EQ(offload.op_named("affine", 2 * sizeof(affine)), std::nullopt);
  EXPECT_EQ(offload.op_named("affin", sizeof(affine)), std::nullopt);
  EXPECT_EQ(offload.op_named("", 0), std::nullopt);
}

// A rank asks a node that does not answer, sleeps, and asks again. The second time, the answer comes in the last sleep.
TEST(Offload, AnAnswerToTheLastQuestionIsHeard) {
  Network network(2);
  unsigned sleeps = 0;
  instead_of_sleep = [&] { ++sleeps; };
  EXPECT_FALSE(network.offloads[0]->greet().ok());
  instead_of_sleep = [&, last = std::exchange(sleeps, 0)] {
    if (++sleeps == last) network.deliver();
  };
  EXPECT_TRUE(network.offloads[0]->greet().ok());
  instead_of_sleep = nullptr;
}

TEST(Offload, WhereNodesHaveOtherOperationsNoneIsKnown) {
  Network network(2);
  auto sides = std::vector{network.offloads[0]->side(), network.offloads[1]->side()};
  sides[1].ops.of[1] = {"another", 4};
  network.offloads[0]->join(sides, 0, 1);
  EXPECT_FALSE(network.offloads[0]->same_ops());
  EXPECT_EQ(network.offloads[0]->op_named("affine", sizeof(affine)), std::nullopt);
}

// What it has started has ended with an error.
void expect_failed(Offload& offload) {
  std::vector<Offload::Done> done;
  offload.reap(done);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_TRUE(done.front().failed);
}

// An operation that is not attached where the last row comes in fails, and is not taken for a result.
TEST(Offload, AnOperationThatIsNotAttachedFails) {
  Network network(2);
  affine value{2, 3};
  auto* const at = reinterpret_cast<std::byte*>(&value);
  const Offload::Work work{URA_XDP_FORM(URA_XDP_ALLREDUCE, 0, URA_XDP_OWN + 3, 0, sizeof value), own_reducer()};
  ASSERT_TRUE(network.offloads[0]->start(work, at, at, nullptr));
  ASSERT_TRUE(network.offloads[1]->start(work, at, at, nullptr));
  network.deliver();
  expect_failed(*network.offloads[0]);
}

TEST(Offload, RanksThatDisagreeGetAnError) {
  Network network(2);
  std::array<std::byte, 8> bytes{};
  const reduce::Reducer* const sum = reduce::builtin(reduce::Op::sum, reduce::Type::i32);
  const Offload::Work four{URA_XDP_FORM(URA_XDP_ALLREDUCE, 0, URA_XDP_SUM, URA_XDP_I32, 4), sum};
  const Offload::Work eight{URA_XDP_FORM(URA_XDP_ALLREDUCE, 0, URA_XDP_SUM, URA_XDP_I32, 8), sum};
  ASSERT_TRUE(network.offloads[0]->start(four, bytes.data(), bytes.data(), nullptr));
  ASSERT_TRUE(network.offloads[1]->start(eight, bytes.data(), bytes.data(), nullptr));
  network.deliver();
  for (const auto& offload : network.offloads) expect_failed(*offload);
}

// Who receives a broadcast gives nothing, so nobody else can tell that it expects another size, or another root.
TEST(Offload, RanksThatDisagreeAboutABroadcastGetAnError) {
  constexpr std::uint32_t kFour = URA_XDP_FORM(URA_XDP_BCAST, 0, 0, 0, 4);
  for (const std::uint32_t other : {std::uint32_t{URA_XDP_FORM(URA_XDP_BCAST, 0, 0, 0, 8)},
                                    std::uint32_t{URA_XDP_FORM(URA_XDP_BCAST, 1, 0, 0, 4)}}) {
    Network network(3);
    std::array<std::byte, 8> bytes{};
    ASSERT_TRUE(network.offloads[0]->start({kFour, nullptr}, bytes.data(), bytes.data(), nullptr));
    ASSERT_TRUE(network.offloads[2]->start({other, nullptr}, bytes.data(), bytes.data(), nullptr));
    network.deliver();
    expect_failed(*network.offloads[2]);
  }
}

// Its node has had more operations than half of all numbers.
TEST(Offload, ANodeAnswersAfterAnyNumberOfOperations) {
  Network network(2);
  for (std::uint64_t cell = 0; cell < URA_XDP_CELLS; ++cell) {
    network.slot(1).cells[cell].word = ((std::uint64_t{1} << 31U) + cell) << 32U;
  }
  ASSERT_TRUE(
      network.offloads[0]->start({URA_XDP_FORM(URA_XDP_BARRIER, 0, 0, 0, 0), nullptr}, nullptr, nullptr, nullptr));
  std::vector<Offload::Done> done;
  while (network.offloads[0]->counts().requests == 0) network.offloads[0]->reap(done);
  network.deliver();
  EXPECT_NE(network.slot(0).answered & 2U, 0U);
}

// A root asks who may lack what it gave, but not those who have left: their slots are others' by then.
TEST(Offload, WhoHasLeftIsNotWaitedFor) {
  Network network(3);
  const Offload::Work work{URA_XDP_FORM(URA_XDP_BCAST, 0, 0, 0, 8), nullptr};
  std::array<std::byte, 8> bytes{};
  Offload& root = *network.offloads[0];
  std::vector<Offload::Done> done;
  EXPECT_TRUE(root.all_have_it());
  EXPECT_EQ(root.waits_for(), 0U);
  for (unsigned i = 0; i <= URA_XDP_CELLS; ++i) {
    ASSERT_TRUE(root.start(work, bytes.data(), bytes.data(), nullptr));
    root.reap(done);
  }
  EXPECT_EQ(done.size(), std::size_t{URA_XDP_CELLS});  // the last has no cell
  EXPECT_EQ(root.waits_for(), 0b110U);
  root.note_left(0b010);
  EXPECT_EQ(root.waits_for(), 0b100U);
  root.note_left(0b100);
  while (done.size() <= URA_XDP_CELLS) root.reap(done);
  EXPECT_TRUE(root.all_have_it());
}

// A rank that only gives has ended an operation as soon as there is a cell for it, which reap() may find.
TEST(Offload, AnOperationThatEndsWithItsCellIsTold) {
  Network network(2);
  const Offload::Work work{URA_XDP_FORM(URA_XDP_REDUCE, 0, URA_XDP_SUM, URA_XDP_F64, 8),
                           reduce::builtin(reduce::Op::sum, reduce::Type::f64)};
  const std::array<std::byte, 8> bytes{};
  Offload& giver = *network.offloads[1];
  std::vector<Offload::Done> done;
  for (unsigned i = 0; i <= URA_XDP_CELLS; ++i) {
    ASSERT_TRUE(giver.start(work, bytes.data(), nullptr, nullptr));
    giver.reap(done);
  }
  EXPECT_EQ(done.size(), std::size_t{URA_XDP_CELLS});
  EXPECT_FALSE(giver.can_progress());
  giver.note_left(0b01);
  giver.reap(done);
  EXPECT_EQ(done.size(), std::size_t{URA_XDP_CELLS});
  EXPECT_TRUE(giver.can_progress());
  giver.reap(done);
  EXPECT_EQ(done.size(), std::size_t{URA_XDP_CELLS} + 1);
  EXPECT_FALSE(giver.can_progress());
}

TEST(Offload, WhoeverLacksItIsAskedUntilItHasIt) {
  Network network(2);
  const Offload::Work work{URA_XDP_FORM(URA_XDP_BCAST, 0, 0, 0, 8), nullptr};
  std::array<std::byte, 8> bytes{};
  Offload& root = *network.offloads[0];
  ASSERT_TRUE(root.start(work, bytes.data(), bytes.data(), nullptr));
  std::vector<Offload::Done> done;
  root.reap(done);
  network.losses = 1;
  network.deliver();
  EXPECT_FALSE(root.all_have_it());
  network.losses = 0;
  while (!root.all_have_it()) network.deliver();
  network.offloads[1]->start(work, nullptr, bytes.data(), nullptr);
  done.clear();
  network.offloads[1]->reap(done);
  EXPECT_EQ(done.size(), 1U);
}

// A root that runs ahead waits for those who have not taken what it gave, and asks them.
TEST(Offload, ARootThatRunsAheadIsHeldBack) {
  Network network(2);
  const Offload::Work work{URA_XDP_FORM(URA_XDP_BCAST, 0, 0, 0, 8), nullptr};
  constexpr std::uint64_t kCount = 100;
  std::array<std::uint64_t, kCount> sent{};
  std::vector<Offload::Done> done;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    sent[i] = i;
    auto* const at = reinterpret_cast<std::byte*>(&sent[i]);
    ASSERT_TRUE(network.offloads[0]->start(work, at, at, nullptr));
  }
  for (unsigned i = 0; i < 20; ++i) {
    network.deliver();
    network.offloads[0]->reap(done);
  }
  EXPECT_LE(done.size(), 2 * std::size_t{URA_XDP_CELLS});  // the other's cells, and its own
  for (std::uint64_t i = 0; i < kCount; ++i) {
    std::uint64_t got = ~std::uint64_t{0};
    auto* const at = reinterpret_cast<std::byte*>(&got);
    ASSERT_TRUE(network.offloads[1]->start(work, at, at, nullptr));
    std::vector<Offload::Done> mine;
    while (mine.empty()) {
      network.offloads[0]->reap(done);
      network.deliver();
      network.offloads[1]->reap(mine);
    }
    EXPECT_EQ(got, i);
  }
}

TEST(Offload, AFrameOfAnotherCommunicatorIsNotTaken) {
  Network network(2);
  network.slot(1).token = 1;
  const Offload::Work work{URA_XDP_FORM(URA_XDP_BARRIER, 0, 0, 0, 0), nullptr};
  ASSERT_TRUE(network.offloads[0]->start(work, nullptr, nullptr, nullptr));
  network.deliver();
  EXPECT_EQ(network.slot(1).taken, 0U);
  EXPECT_EQ(network.passed_on, 1U);
}

// A rank may be late for ever, as long as its node answers.
TEST(Offload, ANodeThatDoesNotAnswerBreaksItAndALateRankDoesNot) {
  constexpr std::uint64_t kTimeout = 50'000'000;
  Network network(2, 1, kTimeout);
  const Offload::Work work{URA_XDP_FORM(URA_XDP_BARRIER, 0, 0, 0, 0), nullptr};
  ASSERT_TRUE(network.offloads[0]->start(work, nullptr, nullptr, nullptr));
  std::vector<Offload::Done> done;
  const auto look_for = [&](std::uint64_t ns) {
    for (const std::uint64_t begin = now_ns(); now_ns() - begin < ns && done.empty();) {
      network.deliver();
      network.offloads[0]->reap(done);
    }
  };
  look_for(4 * kTimeout);
  EXPECT_TRUE(done.empty());
  network.losses = 1;
  look_for(100 * kTimeout);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_TRUE(done.front().failed);
}

TEST(Offload, WhatIsBrokenFailsWhatIsUnderWayAndAllLater) {
  Network network(2);
  const Offload::Work work{URA_XDP_FORM(URA_XDP_BARRIER, 0, 0, 0, 0), nullptr};
  ASSERT_TRUE(network.offloads[0]->start(work, nullptr, nullptr, nullptr));
  network.offloads[0]->discard();
  expect_failed(*network.offloads[0]);
  EXPECT_FALSE(network.offloads[0]->start(work, nullptr, nullptr, nullptr));
}

TEST(Table, SlotsAreClaimedOnceAndAnewWhenTheirProcessIsGone) {
  const std::unique_ptr<ura_xdp_slot[]> slots(new ura_xdp_slot[URA_XDP_SLOTS]());
  const auto table = Table::over(slots.get());
  for (unsigned i = 0; i < URA_XDP_SLOTS; ++i) EXPECT_NE(table->claim(), nullptr);
  EXPECT_EQ(table->claim(), nullptr);
  slots[5].owner += 1;  // began at another time: it is another process that is gone
  EXPECT_EQ(table->claim(), &slots[5]);
  Table::release(slots[7]);
  EXPECT_EQ(table->claim(), &slots[7]);
}

// Two containers that share a network: the same numbers stand for other processes there.
TEST(Table, SlotsOfAnotherPidNamespaceAreNotClaimed) {
  constexpr std::size_t kBytes = sizeof(ura_xdp_slot) * URA_XDP_SLOTS;
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const slots = static_cast<ura_xdp_slot*>(memory);
  const auto table = Table::over(slots);
  for (unsigned i = 1; i < URA_XDP_SLOTS; ++i) EXPECT_NE(table->claim(), nullptr);
  std::array<int, 2> ready{};
  std::array<int, 2> end{};
  ASSERT_EQ(pipe(ready.data()) | pipe(end.data()), 0);
  const pid_t outer = fork();
  if (outer == 0) {
    close(end[1]);
    char result = 's';  // skipped
    if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
      _exit(write(ready[1], &result, 1) == 1 ? 0 : 1);
    }
    const pid_t inner = fork();
    if (inner == 0) {
      const bool mounted = mount("proc", "/proc", "proc", 0, nullptr) == 0;
      // The last one is free; those of the process outside are not, although nobody here has its number.
      if (mounted) result = table->claim() == &slots[URA_XDP_SLOTS - 1] && table->claim() == nullptr ? 'r' : 'w';
      if (write(ready[1], &result, 1) != 1) _exit(1);
      _exit(read(end[0], &result, 1) == 0 ? 0 : 1);
    }
    waitpid(inner, nullptr, 0);
    _exit(0);
  }
  close(end[0]);
  char result = 0;
  EXPECT_EQ(read(ready[0], &result, 1), 1);
  ura_xdp_slot* const claimed = table->claim();
  close(end[1]);
  waitpid(outer, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
  munmap(memory, kBytes);
  if (result == 's') GTEST_SKIP() << "needs root, for a pid namespace";
  EXPECT_EQ(result, 'r');
  EXPECT_EQ(claimed, nullptr);
}

}  // namespace
}  // namespace urakata::xdp
