// SPDX-License-Identifier: BSD-3-Clause
// Chains of all ranks run against each other, and what the compiler makes of schedules that it can and cannot chain.
#include "chain/compile.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "collectives/collectives.hpp"
#include "schedule/builder.hpp"

namespace urakata::chain {
namespace {

using collectives::Algorithm;
using collectives::Arguments;
using collectives::Operation;
using schedule::Builder;
using schedule::kRecvBuffer;
using schedule::kSendBuffer;

// The bytes that an operation begins with on a rank, and must leave there.
using Bytes = std::vector<std::uint8_t>;
std::uint8_t value(std::uint32_t from, std::uint32_t to, std::uint64_t at) {
  return static_cast<std::uint8_t>(from * 31 + to * 7 + at * 3 + 1);
}

// What a connection takes without its receiver: nothing, so that every send waits for room, or all.
enum class Room { none, all };

class Rank {
 public:
  Rank(ChainedSchedule chained, std::vector<Bytes> buffers)
      : chained_(std::move(chained)), buffers_(std::move(buffers)) {
    for (std::size_t at = 0; at < chained_.entries.size(); ++at) {
      if (at == 0 || !chained_.entries[at - 1].continues) chains_.push_back(at);
    }
    gates_.resize(chained_.gates);
    copy(chained_.before);
  }
  bool over() const { return ended_ == chained_.entries.size(); }
  // One pass over the chains; `streams[from][to]`: bytes under way. False: nothing can go on.
  bool advance(std::uint32_t rank, std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<std::uint8_t>>& streams,
               std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t>& wanted, Room room) {
    bool moved = false;
    const std::size_t asked = asked_.size();
    for (std::size_t& at : chains_) {
      while (at != kEnded && step(chained_.entries[at], at, rank, streams, wanted, room)) {
        moved = true;
        ++ended_;
        at = chained_.entries[at].continues ? at + 1 : kEnded;
      }
    }
    return moved || asked_.size() != asked;
  }
  const Bytes& finish() {
    copy(chained_.after);
    return buffers_[kRecvBuffer];
  }

 private:
  static constexpr std::size_t kEnded = ~std::size_t{0};

  void copy(const std::vector<Copy>& copies) {
    for (const Copy& one : copies) {
      std::copy_n(buffers_[one.from].begin() + one.from_offset, one.bytes, buffers_[one.to].begin() + one.to_offset);
    }
  }

  bool step(const Entry& entry, std::size_t at, std::uint32_t rank,
            std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<std::uint8_t>>& streams,
            std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t>& wanted, Room room) {
    if (entry.act == Act::signal) return ++gates_[entry.index] != 0;
    if (entry.act == Act::wait) return gates_[entry.index] != 0 && gates_[entry.index]-- != 0;
    const std::uint32_t peer = chained_.peers[entry.index];
    if (entry.act == Act::send) {
      auto& stream = streams[{rank, peer}];
      if (room == Room::none && wanted[{rank, peer}] < entry.bytes) return false;
      if (room == Room::none) wanted[{rank, peer}] -= entry.bytes;
      for (std::uint32_t i = 0; i < entry.bytes; ++i) {
        stream.push_back(entry.buffer == kToken ? 0
                                                : buffers_[entry.buffer][static_cast<std::size_t>(entry.offset) + i]);
      }
      return true;
    }
    auto& stream = streams[{peer, rank}];
    if (!asked_[at]) wanted[{peer, rank}] += entry.bytes;
    asked_[at] = true;
    if (stream.size() < entry.bytes) return false;
    for (std::uint32_t i = 0; i < entry.bytes; ++i) {
      if (entry.buffer != kToken) buffers_[entry.buffer][static_cast<std::size_t>(entry.offset) + i] = stream.front();
      stream.pop_front();
    }
    return true;
  }

  ChainedSchedule chained_;
  std::vector<Bytes> buffers_;
  std::vector<std::size_t> chains_;  // where each is
  std::vector<std::size_t> gates_;
  std::map<std::size_t, bool> asked_;  // receives that have begun
  std::size_t ended_ = 0;
};

struct Case {
  Operation operation;
  const Algorithm* algorithm;
  std::uint32_t ranks, root = 0;
  std::uint64_t bytes, segment = 0, short_bytes = kShortBytes;
  bool in_place = false;
};

std::string words(const Case& c) {
  return std::string(c.algorithm->name) + ", " + std::to_string(c.ranks) + " ranks, root " + std::to_string(c.root) +
         ", " + std::to_string(c.bytes) + " bytes, segment " + std::to_string(c.segment) + ", short " +
         std::to_string(c.short_bytes) + (c.in_place ? ", in place" : "");
}

Bytes before(const Case& c, std::uint32_t rank, bool receives) {
  Bytes bytes(c.operation == Operation::bcast ? c.bytes : c.bytes * c.ranks);
  for (std::uint32_t other = 0; other < c.ranks; ++other) {
    for (std::uint64_t at = 0; at < c.bytes; ++at) {
      if (c.operation == Operation::bcast) {
        if (receives && rank == c.root) bytes[at] = value(rank, 0, at);
      } else if (c.operation == Operation::alltoall) {
        if (!receives || c.in_place) bytes[other * c.bytes + at] = value(rank, other, at);
      } else if (other == rank && receives == c.in_place) {
        bytes[(receives ? other * c.bytes : 0) + at] = value(rank, 0, at);
      }
    }
  }
  return bytes;
}

std::uint8_t expected(const Case& c, std::uint32_t rank, std::uint64_t at) {
  if (c.operation == Operation::bcast) return value(c.root, 0, at);
  const auto from = static_cast<std::uint32_t>(at / c.bytes);
  return value(from, c.operation == Operation::alltoall ? rank : 0, at % c.bytes);
}

// "" where all is right; "not chained" where the compiler says so on all ranks.
std::string run(const Case& c, Room room) {
  std::vector<Rank> ranks;
  std::size_t refused = 0;
  for (std::uint32_t rank = 0; rank < c.ranks; ++rank) {
    const auto schedule = c.algorithm->build({.ranks = c.ranks,
                                              .rank = rank,
                                              .root = c.root,
                                              .in_place = c.in_place,
                                              .bytes = c.bytes,
                                              .segment = c.segment});
    if (!schedule.ok()) return schedule.error().message;
    const bool downhill = c.operation == Operation::bcast && c.algorithm->name != "scatter_allgather";
    const auto most = most_entries(*schedule);
    auto chained = compile(*schedule, {.downhill = downhill, .short_bytes = c.short_bytes});
    if (!chained.ok() && most.ok()) return chained.error().message;  // the other ranks would not know of it
    if (!chained.ok()) {
      ++refused;
      continue;
    }
    if (chained->entries.size() > *most) return "more entries than most_entries() says";
    std::vector<Bytes> buffers{before(c, rank, false), before(c, rank, true)};
    for (const std::uint64_t temporary : schedule->temps()) buffers.emplace_back(temporary);
    ranks.emplace_back(std::move(*chained), std::move(buffers));
  }
  if (refused != 0) return "not chained";
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<std::uint8_t>> streams;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> wanted;
  for (bool moved = true; moved;) {
    moved = false;
    for (std::uint32_t rank = 0; rank < c.ranks; ++rank) {
      if (ranks[rank].advance(rank, streams, wanted, room)) moved = true;
    }
  }
  for (std::uint32_t rank = 0; rank < c.ranks; ++rank) {
    if (!ranks[rank].over()) return "rank " + std::to_string(rank) + " waits for ever";
    const Bytes& bytes = ranks[rank].finish();
    for (std::uint64_t at = 0; at < bytes.size(); ++at) {
      if (bytes[at] != expected(c, rank, at)) {
        return "rank " + std::to_string(rank) + ", byte " + std::to_string(at) + " is wrong";
      }
    }
  }
  for (const auto& [pair, stream] : streams) {
    if (!stream.empty()) return "bytes are left over";
  }
  return "";
}

class Chained : public testing::TestWithParam<Operation> {
 protected:
  void check(Case c, Room room) {
    const std::string outcome = run(c, room);
    if (outcome == "not chained") {
      ++refused_[c.algorithm->name];
    } else {
      ASSERT_EQ(outcome, "") << words(c);
      ++chained_[c.algorithm->name];
    }
  }
  std::map<std::string_view, int> refused_, chained_;
};

// Every algorithm, all ranks; all in one chain where sends never wait, a chain for each stream where each does, and a
// tree's messages in one chain even then.
TEST_P(Chained, AllRanksEndWithTheRightBytes) {
  const Operation operation = GetParam();
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t ranks = 2; ranks <= 17; ++ranks) sizes.push_back(ranks);
  for (const std::uint32_t ranks : {31U, 32U, 33U, 64U}) sizes.push_back(ranks);
  for (const Algorithm& algorithm : collectives::algorithms(operation)) {
    for (const std::uint32_t ranks : sizes) {
      for (const std::uint32_t root : {0U, ranks / 2}) {
        if (root != 0 && operation != Operation::bcast) continue;
        for (const bool in_place : {false, true}) {
          if (in_place && operation == Operation::bcast) continue;
          const Case c{.operation = operation,
                       .algorithm = &algorithm,
                       .ranks = ranks,
                       .root = root,
                       .bytes = 5,
                       .in_place = in_place};
          check(c, Room::all);
          Case streams = c;
          streams.short_bytes = 0;
          check(streams, Room::none);
          streams.segment = 2;
          check(streams, Room::none);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
  EXPECT_FALSE(chained_.empty());
  for (const auto& [name, count] : refused_) {
    // Bruck's Alltoall sorts blocks between its messages; in place blocks wait for each other in temporaries.
    EXPECT_EQ(operation, Operation::alltoall) << name;
  }
  if (operation == Operation::alltoall) {
    EXPECT_FALSE(refused_.contains("spread"));
  }
}

std::string operation_name(const testing::TestParamInfo<Operation>& info) {
  return std::string(collectives::name(info.param));
}

INSTANTIATE_TEST_SUITE_P(Collectives, Chained,
                         testing::Values(Operation::bcast, Operation::allgather, Operation::alltoall), operation_name);

std::string text(const ChainedSchedule& chained) {
  std::string line;
  for (const Entry& entry : chained.entries) {
    line += std::string(1, "srGW"[static_cast<int>(entry.act)]);
    line +=
        std::to_string(entry.act == Act::send || entry.act == Act::receive ? chained.peers[entry.index] : entry.index);
    line += entry.continues ? " " : "; ";
  }
  return line;
}

// Rank 1 of 3 hands on three segments. Down a tree it is one chain; else a stream each, with a gate (signal G, wait W).
TEST(Compile, ARelayIsOneChainDownATreeAndTwoWithGatesElse) {
  Builder builder("relay", 3, 1);
  const schedule::Chunks chunks = schedule::cut(30000, 10000);
  const auto in = builder.recv(0, {.buffer = kRecvBuffer}, chunks, {.window = 2});
  const auto out = builder.send(2, {.buffer = kRecvBuffer}, chunks, {.window = 2});
  builder.each(in, out);
  const auto schedule = *builder.commit();
  EXPECT_EQ(text(*compile(schedule, {.downhill = true})), "r0 s2 r0 s2 r0 s2; ");
  EXPECT_EQ(text(*compile(schedule, {})), "W0 s2 W0 s2 W0 s2; r0 G0 r0 G0 r0 G0; ");
  EXPECT_EQ(text(*compile(schedule, {.short_bytes = 30000})), "r0 s2 r0 s2 r0 s2; ");
}

// What an edge implies by way of others has no gate: the second send waits for both receives, of which the first is
// implied.
TEST(Compile, GatesStandOnlyWhereNothingElseImpliesThem) {
  Builder builder("two", 2, 0);
  const auto first = builder.recv(1, {.buffer = kRecvBuffer}, 8, 0);
  const auto second = builder.recv(1, {.buffer = kRecvBuffer, .offset = 8}, 8, 1);
  const auto answer = builder.send(1, {.buffer = kRecvBuffer}, 8, 0);
  const auto last = builder.send(1, {.buffer = kRecvBuffer, .offset = 8}, 8, 1);
  builder.after(first, answer);
  builder.after(first, last);
  builder.after(second, last);
  EXPECT_EQ(text(*compile(*builder.commit(), {.short_bytes = 0})), "W0 s1 W0 s1; r1 G0 r1 G0; ");
}

// Messages of a channel stand before those of the next one, whatever the order of the nodes: sender and receiver agree.
TEST(Compile, AStreamIsInTheOrderOfChannels) {
  Builder builder("channels", 2, 0);
  builder.send(1, {.buffer = kSendBuffer}, 3, 7);
  builder.send(1, {.buffer = kSendBuffer, .offset = 3}, 5, 2);
  const ChainedSchedule chained = *compile(*builder.commit(), {});
  ASSERT_EQ(chained.entries.size(), 2U);
  EXPECT_EQ(chained.entries[0].bytes, 5U);
  EXPECT_EQ(chained.entries[1].bytes, 3U);
}

TEST(Compile, AMessageWithoutBytesIsAToken) {
  Builder builder("token", 2, 0);
  builder.send(1, {.buffer = kSendBuffer}, 0, 0);
  const ChainedSchedule chained = *compile(*builder.commit(), {});
  ASSERT_EQ(chained.entries.size(), 1U);
  EXPECT_EQ(chained.entries[0].bytes, 1U);
  EXPECT_EQ(chained.entries[0].buffer, kToken);
}

TEST(Compile, AMessageOfMoreThanTheKernelMovesAtOnceIsCut) {
  Builder builder("large", 2, 0);
  builder.send(1, {.buffer = kSendBuffer}, (3UL << 30) + 1, 0);
  const ChainedSchedule chained = *compile(*builder.commit(), {});
  ASSERT_EQ(chained.entries.size(), 4U);
  EXPECT_EQ(chained.entries[3].bytes, 1U);
  EXPECT_EQ(chained.entries[3].offset, 3L << 30);
  EXPECT_EQ(chained.chains, 1U);
}

TEST(Compile, SaysWhatItCannotChain) {
  const auto why = [](Builder& builder) { return most_entries(*builder.commit()).error().message; };
  {
    Builder builder("sum", 2, 0);
    const auto in = builder.recv(1, {.buffer = kRecvBuffer}, 8, 0);
    builder.after(in, builder.reduce({.buffer = kSendBuffer}, {.buffer = kRecvBuffer}, 8, 8));
    EXPECT_EQ(why(builder), "sum cannot be chained: it reduces (node 1)");
  }
  {
    Builder builder("move", 2, 0);
    const auto in = builder.recv(1, {.buffer = kRecvBuffer}, 8, 0);
    const auto moved = builder.copy({.buffer = kRecvBuffer}, {.buffer = kRecvBuffer, .offset = 8}, 8);
    const auto out = builder.send(1, {.buffer = kRecvBuffer, .offset = 8}, 8, 0);
    builder.after(in, moved);
    builder.after(moved, out);
    EXPECT_EQ(why(builder), "move cannot be chained: node 1 copies between two messages");
  }
  {
    Builder builder("many", 2, 0);
    builder.send(1, {.buffer = kSendBuffer}, schedule::cut(40'000, 1), {});
    EXPECT_EQ(why(builder), "many cannot be chained: it may take 40000 entries, and the kernel is given at most 32768");
  }
}

// Rank 0 sends channel 1 before it has what channel 0 waits for; the order of channels would be a ring of waits.
TEST(Compile, ChannelsAgainstTheOrderOfMessagesAreRefused) {
  Builder builder("crossed", 2, 0);
  const auto late = builder.send(1, {.buffer = kSendBuffer}, 8, 0);
  const auto early = builder.send(1, {.buffer = kSendBuffer}, 8, 1);
  const auto answer = builder.recv(1, {.buffer = kRecvBuffer}, 8, 0);
  builder.after(early, answer);
  builder.after(answer, late);
  EXPECT_EQ(compile(*builder.commit(), {}).error().message,
            "crossed cannot be chained: its channels do not follow each other as its messages do");
}

}  // namespace
}  // namespace urakata::chain
