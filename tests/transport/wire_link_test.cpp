// Endpoints of processes on nodes of their own, over loopback: every kind of message arrives once, whole and in order,
// or fails where its connection is torn down.
#include "transport/wire_link.hpp"

#include <arpa/inet.h>
#include <dirent.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <tuple>
#include <vector>

#include "layout/moving.hpp"
#include "p2p/endpoint.hpp"

namespace urakata::transport {
namespace {

using p2p::Buffer;
using p2p::Endpoint;
using p2p::Envelope;
using p2p::kAnySource;
using p2p::kAnyTag;
using p2p::LinkPeer;
using p2p::Mode;
using p2p::Outcome;
using p2p::Request;

Failures failures(16);

struct Node {
  std::unique_ptr<Wire> wire;
  std::unique_ptr<WireLink> link;
  std::unique_ptr<Endpoint> endpoint;
};

std::vector<Node> job(std::int32_t ranks, const WireLink::Settings& settings = {}) {
  constexpr std::uint64_t kTimeout = 60'000'000'000;  // longer than any test
  std::vector<Node> nodes;
  std::vector<ListenAddress> addresses;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    nodes.emplace_back().wire = std::move(*Wire::open(rank, {.low = 1, .high = 2}, failures, kTimeout));
    auto& four = reinterpret_cast<sockaddr_in&>(addresses.emplace_back().address);
    four.sin_family = AF_INET;
    four.sin_port = htons(nodes.back().wire->listen_port());
    four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    addresses.back().length = sizeof four;
  }
  for (Node& node : nodes) {
    node.wire->set_addresses(addresses);
    node.link = std::move(*WireLink::open(*node.wire, settings));
    node.endpoint = std::make_unique<Endpoint>(p2p::Callers::one);
    node.endpoint->attach(*node.link);
  }
  return nodes;
}

// Three blocks of 8 bytes, 12 apart, every 40 bytes.
class Holes final : public layout::Layout {
 public:
  Holes() {
    size = 24;
    extent = 40;
    contiguous = false;
  }
  const layout::Shape* shape() const override { return &shape_; }
  void pack(const std::byte* base, std::uint64_t first, std::uint64_t count, std::byte* packed) const override {
    layout::pack({shape_, base, first + count}, first * size, {packed, count * size});
  }
  void unpack(const std::byte* packed, std::byte* base, std::uint64_t first, std::uint64_t count) const override {
    layout::unpack({packed, count * size}, {shape_, base, first + count}, first * size);
  }

 private:
  layout::Shape shape_{layout::TypeMap::resized(0, 40, layout::TypeMap::hvector(3, 1, 12, layout::TypeMap::bytes(8)))};
};
const Holes holes;

// Memory for a payload of up to so many bytes, plain or as elements with holes.
struct Room {
  std::vector<std::byte> memory;
  Buffer buffer;

  void make(std::uint64_t bytes, bool with_holes) {
    const std::uint64_t count = bytes / holes.size;
    memory.resize(with_holes ? count * holes.extent : bytes);
    buffer = with_holes ? Buffer{memory.data(), count, &holes} : Buffer{memory.data(), bytes, nullptr};
  }
  void write(const std::vector<std::byte>& payload) { p2p::unpack(payload, buffer.elements(), 0); }
  std::vector<std::byte> read(std::uint64_t bytes) const {
    std::vector<std::byte> payload(bytes);
    p2p::pack(buffer.elements(), 0, payload);
    return payload;
  }
};

struct Header {
  std::int32_t source = 0;
  std::int32_t tag = 0;
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;
};
static_assert(sizeof(Header) == 24);

constexpr std::uint64_t kLargest = 8UL << 20;
constexpr std::int32_t kTags = 3;

std::uint64_t size_of(std::uint64_t draw) {
  if (draw % 256 == 0) return kLargest - draw / 256 % 1000;
  if (draw % 32 == 1) return 100'000 + draw / 32 % 700'000;
  if (draw % 16 == 2) return (64 << 10) + draw / 16 % 2;
  if (draw % 8 == 3) return draw / 8 % (64 << 10);
  return draw / 8 % 300;
}

std::byte filling(const Header& header, std::size_t at) {
  return static_cast<std::byte>(header.number * 31 + at + at / 251 + static_cast<std::uint64_t>(header.source) * 5);
}

// As much of the header as there is room for, and the filling.
std::vector<std::byte> payload_of(const Header& header) {
  std::vector<std::byte> payload(header.bytes);
  for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = filling(header, i);
  if (payload.size() >= sizeof header) std::memcpy(payload.data(), &header, sizeof header);
  return payload;
}

// One of several ranks that send to all others and receive by wildcards.
class Rank {
 public:
  Rank(std::int32_t own, std::int32_t ranks, std::uint64_t each, std::uint64_t seed, Node& node)
      : own_(own), ranks_(ranks), each_(each), random_(seed + static_cast<std::uint64_t>(own)), node_(node) {
    next_.resize(static_cast<std::size_t>(ranks));
  }

  std::uint64_t total() const { return each_ * kTags * static_cast<std::uint64_t>(ranks_ - 1); }
  bool over() { return taken_.size() == total() && sent_ == total() && here().idle() && open_sends() == 0; }

  void turn() {
    if (sent_ < total()) send();
    for (Receiving& r : receives_) {
      if (r.request == nullptr && taken_.size() < total()) post(r);
    }
    here().progress();
    for (Receiving& r : receives_) {
      if (r.request == nullptr) continue;
      if (!r.request->done() && (taken_.size() == total() || random_() % 64 == 0)) here().cancel(*r.request);
      if (!r.request->done()) continue;
      if (r.request->result.outcome != Outcome::cancelled) take(r);
      here().release(*r.request);
      r.request = nullptr;
    }
  }

  // In the order in which they were posted, receives have got the messages of one source and tag in the order in which
  // these were sent, and each once.
  void check() {
    ASSERT_EQ(bad_, 0U);
    std::sort(taken_.begin(), taken_.end());
    std::vector<std::array<std::uint64_t, kTags>> next(static_cast<std::size_t>(ranks_));
    for (const auto& [posted, source, tag, number] : taken_) {
      auto& expected = next[static_cast<std::size_t>(source)][static_cast<std::size_t>(tag)];
      if (number != kUnknown) {
        ASSERT_EQ(number, expected) << "rank " << own_ << " from " << source << " tag " << tag;
      }
      ++expected;
    }
    EXPECT_TRUE(node_.link->flushed());
  }

 private:
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};  // the number of a message without room for a header

  struct Sending {
    Request* request = nullptr;
    Room room;
  };
  struct Receiving {
    Request* request = nullptr;
    std::uint64_t posted = 0;
    Room room;
  };

  Endpoint& here() { return *node_.endpoint; }

  std::size_t open_sends() {
    std::size_t open = 0;
    for (Sending& s : sends_) {
      if (s.request != nullptr && s.request->done()) {
        here().release(*s.request);
        s.request = nullptr;
      }
      open += s.request != nullptr ? 1 : 0;
    }
    return open;
  }

  void send() {
    open_sends();
    const auto free = std::find_if(sends_.begin(), sends_.end(), [](const auto& s) { return s.request == nullptr; });
    const auto to = static_cast<std::int32_t>(random_() % static_cast<std::uint64_t>(ranks_));
    const auto tag = static_cast<std::int32_t>(random_() % kTags);
    std::uint64_t& number = next_[static_cast<std::size_t>(to)][static_cast<std::size_t>(tag)];
    if (free == sends_.end() || to == own_ || number == each_) return;
    Header header{own_, tag, number++, size_of(random_())};
    const bool with_holes = random_() % 3 == 0;
    if (with_holes) header.bytes -= header.bytes % holes.size;
    free->room.make(header.bytes, with_holes);
    free->room.write(payload_of(header));
    const auto mode = static_cast<Mode>(random_() % 3);
    free->request = here().send(LinkPeer{to}, {7, own_, tag}, free->room.buffer, mode);
    ++sent_;
  }

  void post(Receiving& r) {
    r.room.make(random_() % 16 == 0 ? random_() % 2000 : kLargest, random_() % 3 == 0);
    r.posted = ++posts_;
    const auto one = static_cast<std::int32_t>(random_() % static_cast<std::uint64_t>(ranks_));
    const Envelope pattern{7, random_() % 4 == 0 && one != own_ ? one : kAnySource,
                           random_() % 2 == 0 ? kAnyTag : static_cast<std::int32_t>(random_() % kTags)};
    p2p::Result found;
    if (random_() % 4 != 0) {
      r.request = &here().receive(pattern, r.room.buffer);
    } else if (p2p::Unexpected* const message = here().take(pattern, &found)) {
      r.request = &here().receive(*message, r.room.buffer);
    }
  }

  void take(const Receiving& r) {
    const p2p::Result& result = r.request->result;
    const std::vector<std::byte> payload = r.room.read(result.bytes);
    Header header{result.source, result.tag, kUnknown, result.bytes};
    const std::uint64_t room = r.room.buffer.bytes();
    if (payload.size() >= sizeof header) {
      std::memcpy(&header, payload.data(), sizeof header);
      const std::vector<std::byte> expected = payload_of(header);
      if (result.bytes != std::min(header.bytes, room) || header.source != result.source || header.tag != result.tag ||
          !std::equal(payload.begin(), payload.end(), expected.begin())) {
        ++bad_;
      }
    }
    if (result.outcome != (header.bytes > room ? Outcome::truncated : Outcome::good) && header.number != kUnknown) {
      ++bad_;
    }
    taken_.emplace_back(r.posted, result.source, result.tag, header.number);
  }

  const std::int32_t own_;
  const std::int32_t ranks_;
  const std::uint64_t each_;
  std::mt19937_64 random_;
  Node& node_;
  std::array<Sending, 8> sends_;
  std::array<Receiving, 6> receives_;
  std::vector<std::array<std::uint64_t, kTags>> next_;
  std::vector<std::tuple<std::uint64_t, std::int32_t, std::int32_t, std::uint64_t>> taken_;
  std::uint64_t sent_ = 0;
  std::uint64_t posts_ = 0;
  std::uint64_t bad_ = 0;
};

std::uint64_t drawn_seed() {
  const char* const given = std::getenv("SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  printf("SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

class Ranks : public ::testing::TestWithParam<std::int32_t> {};

TEST_P(Ranks, EveryMessageArrivesOnceAndInOrder) {
  const std::int32_t count = GetParam();
  const std::uint64_t seed = drawn_seed();
  std::vector<Node> nodes = job(count);
  std::vector<std::unique_ptr<Rank>> ranks;
  for (std::int32_t i = 0; i < count; ++i) {
    ranks.push_back(std::make_unique<Rank>(i, count, 60, seed, nodes[static_cast<std::size_t>(i)]));
  }
  std::atomic<std::int32_t> busy{count};
  std::vector<std::thread> threads;
  for (std::int32_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      const auto own = static_cast<std::size_t>(i);
      while (!ranks[own]->over()) ranks[own]->turn();
      --busy;
      while (busy.load() != 0 || !nodes[own].link->flushed()) nodes[own].endpoint->progress();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (auto& rank : ranks) rank->check();
}
INSTANTIATE_TEST_SUITE_P(WireLink, Ranks, ::testing::Values(2, 3));

// Two ranks in one thread.
class WireLinkPair : public ::testing::Test {
 protected:
  void step() {
    one().progress();
    other().progress();
  }
  Endpoint& one() { return *nodes_[0].endpoint; }
  Endpoint& other() { return *nodes_[1].endpoint; }
  template <class T>
  static Buffer buffer(std::vector<T>& of) {
    return {reinterpret_cast<std::byte*>(of.data()), of.size() * sizeof of[0], nullptr};
  }

  static constexpr WireLink::Settings kSettings{.eager_bytes = 4096, .credit = 40'000};
  std::vector<Node> nodes_ = job(2, kSettings);
};

// 0 sends 1 2 3 ... to 1, which does not receive: what leaves is bounded by the credit, and all arrives in order.
TEST_F(WireLinkPair, CreditBoundsWhatIsUnexpected) {
  constexpr std::uint64_t kMany = 3000;
  std::uint64_t waiting = 0;
  for (std::uint64_t i = 1; i <= kMany; ++i) {
    std::vector<std::uint64_t> number(16, i);
    if (Request* send = one().send(LinkPeer{1}, {1, 0, 0}, buffer(number), Mode::buffered)) {
      ++waiting;
      one().release(*send);
    }
    step();
  }
  EXPECT_EQ(waiting, kMany - kSettings.credit / (WireLink::kFrame + 128));
  for (std::uint64_t i = 1; i <= kMany; ++i) {
    std::vector<std::uint64_t> got(16);
    Request& receive = other().receive({1, kAnySource, kAnyTag}, buffer(got));
    while (!receive.done()) step();
    other().release(receive);
    ASSERT_EQ(got, std::vector<std::uint64_t>(16, i));
  }
  while (!one().idle() || !nodes_[0].link->flushed()) step();
}

// 0 sends 1 2 3 ..., five times the credit, and then 0, which 1 receives first.
TEST_F(WireLinkPair, UnreceivedMessagesKeepNoLaterOneOut) {
  constexpr std::uint64_t kMany = 200;
  std::vector<std::vector<std::uint64_t>> numbers;
  std::vector<Request*> sends;
  for (std::uint64_t i = 1; i <= kMany; ++i) {
    numbers.emplace_back(100, i);
    sends.push_back(one().send(LinkPeer{1}, {1, 0, 0}, buffer(numbers.back()), Mode::standard));
  }
  std::vector<std::uint64_t> last(100, 0);
  sends.push_back(one().send(LinkPeer{1}, {1, 0, 1}, buffer(last), Mode::standard));
  std::vector<std::uint64_t> got(100, 77);
  Request& receive = other().receive({1, 0, 1}, buffer(got));
  for (int steps = 0; steps < 1'000'000 && !receive.done(); ++steps) step();
  ASSERT_TRUE(receive.done());
  EXPECT_EQ(got, last);
  other().release(receive);
  for (const std::vector<std::uint64_t>& expected : numbers) {
    Request& next = other().receive({1, 0, 0}, buffer(got));
    while (!next.done()) step();
    ASSERT_EQ(got, expected);
    other().release(next);
  }
  for (Request* send : sends) {
    if (send == nullptr) continue;
    while (!send->done()) step();
    one().release(*send);
  }
  while (!nodes_[0].link->flushed() || !nodes_[1].link->flushed()) step();
}

// A message of 64 MiB is on its way when one of 8 B is sent: that arrives before.
TEST_F(WireLinkPair, ASmallMessageDoesNotStandBehindALongOne) {
  std::vector<std::uint64_t> out(8UL << 20, 7);
  std::vector<std::uint64_t> in(out.size());
  std::vector<std::uint64_t> small(1, 9);
  std::vector<std::uint64_t> got(1);
  Request& large = other().receive({1, 0, 1}, buffer(in));
  Request& receive = other().receive({1, 0, 2}, buffer(got));
  Request* const send = one().send(LinkPeer{1}, {1, 0, 1}, buffer(out), Mode::standard);
  ASSERT_NE(send, nullptr);
  while (in[0] == 0) step();
  EXPECT_EQ(one().send(LinkPeer{1}, {1, 0, 2}, buffer(small), Mode::standard), nullptr);
  EXPECT_FALSE(nodes_[0].link->flushed());
  while (!receive.done()) step();
  EXPECT_EQ(got[0], 9U);
  EXPECT_FALSE(large.done());
  while (!large.done() || !send->done() || !nodes_[0].link->flushed()) step();
  EXPECT_EQ(in, out);
  one().release(*send);
  other().release(large);
  other().release(receive);
}

// Whoever sleeps by the descriptor is woken by what comes: 0 and 1 send 8 B to and fro, each only when it is told.
TEST_F(WireLinkPair, TheDescriptorTells) {
  const auto wait = [](Node& node, const Request* receive) {
    while (!receive->done()) {
      pollfd told{.fd = node.link->descriptor(), .events = POLLIN, .revents = 0};
      ASSERT_EQ(::poll(&told, 1, 60'000), 1);
      node.endpoint->progress();
    }
  };
  constexpr int kTurns = 200;
  const auto turns = [&](std::int32_t own) {
    Node& node = nodes_[static_cast<std::size_t>(own)];
    for (std::uint64_t i = 0; i < kTurns; ++i) {
      for (const bool mine : {own == 0, own != 0}) {
        std::vector<std::uint64_t> number(1, mine ? i : 0);
        if (mine) {
          EXPECT_EQ(node.endpoint->send(LinkPeer{1 - own}, {1, own, 0}, buffer(number), Mode::standard), nullptr);
          continue;
        }
        Request& receive = node.endpoint->receive({1, 1 - own, 0}, buffer(number));
        wait(node, &receive);
        EXPECT_EQ(number[0], i);
        node.endpoint->release(receive);
      }
    }
  };
  // The first message needs the sender, too, while the connection is made.
  std::atomic<bool> made{false};
  std::thread second([&] {
    turns(1);
    made = true;
  });
  turns(0);
  while (!made) one().progress();
  second.join();
}

// 0 sends 1 2 3 ... and ends when the link says that it may; 1, which has not looked and writes to it meanwhile, has all.
TEST_F(WireLinkPair, WhoEndsWhenAllIsFlushedLosesNothing) {
  constexpr std::uint64_t kMany = 20;
  std::vector<std::uint64_t> number(1);
  Request& first = other().receive({1, 0, 0}, buffer(number));
  one().send(LinkPeer{1}, {1, 0, 0}, buffer(number), Mode::standard);
  while (!first.done()) step();
  other().release(first);
  for (std::uint64_t i = 1; i <= kMany; ++i) {
    std::vector<std::uint64_t> out(100, i);
    EXPECT_EQ(one().send(LinkPeer{1}, {1, 0, 0}, buffer(out), Mode::standard), nullptr);
  }
  while (!one().idle() || !nodes_[0].link->flushed()) one().progress();
  nodes_[0] = {};
  Request* last = nullptr;
  while (last == nullptr) last = other().send(LinkPeer{0}, {1, 1, 0}, buffer(number), Mode::standard);
  std::vector<std::uint64_t> in(100);
  for (std::uint64_t i = 1; i <= kMany; ++i) {
    Request& request = other().receive({1, kAnySource, 0}, buffer(in));
    while (!request.done()) other().progress();
    EXPECT_EQ(request.result.outcome, Outcome::good);
    EXPECT_EQ(in, std::vector<std::uint64_t>(100, i));
    other().release(request);
  }
  while (!last->done()) other().progress();
  EXPECT_EQ(last->result.outcome, Outcome::failed);
  other().release(*last);
}

// A child of the program sees every peer as failed, and the parent's messages go on.
TEST_F(WireLinkPair, AForkedChildTouchesNothing) {
  std::vector<std::uint64_t> number(1, 5);
  std::vector<std::uint64_t> got(1);
  for (int round = 0; round < 2; ++round) {
    ASSERT_EQ(one().send(LinkPeer{1}, {1, 0, 0}, buffer(number), Mode::standard), nullptr);
    Request& receive = other().receive({1, 0, 0}, buffer(got));
    const pid_t child = fork();
    if (child == 0) {
      const bool still = !nodes_[1].link->news() && !other().progress() && nodes_[1].link->failed(LinkPeer{0}) &&
                         other().send(LinkPeer{0}, {1, 1, 0}, buffer(number), Mode::standard) != nullptr;
      _exit(still ? 0 : 1);
    }
    int status = 1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    while (!receive.done()) step();
    EXPECT_EQ(std::exchange(got[0], 0), 5U);
    other().release(receive);
  }
}

// Ends one of this process's TCP connections, whichever.
void cut_one(std::mt19937_64& random) {
  std::vector<int> sockets;
  DIR* const directory = opendir("/proc/self/fd");
  while (const dirent* entry = readdir(directory)) {
    const int descriptor = std::atoi(entry->d_name);
    sockaddr_storage peer{};
    socklen_t length = sizeof peer;
    if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &length) == 0 &&
        (peer.ss_family == AF_INET || peer.ss_family == AF_INET6)) {
      sockets.push_back(descriptor);
    }
  }
  closedir(directory);
  if (!sockets.empty()) shutdown(sockets[random() % sockets.size()], SHUT_RDWR);
}

// Both send each other messages of all sizes, and one of their connections is cut at any time: what has not arrived
// whole fails, and nothing hangs.
TEST(WireLink, ATornConnectionFailsWhatNeedsIt) {
  std::mt19937_64 random(drawn_seed());
  std::size_t good = 0;
  std::size_t lost = 0;
  for (int round = 0; round < 20; ++round) {
    constexpr std::size_t kMessages = 12;
    std::vector<Node> nodes = job(2);
    struct Side {
      std::array<Room, kMessages> out;
      std::array<Room, kMessages> in;
      std::array<Request*, kMessages> sends{};
      std::array<Request*, kMessages> receives{};
    };
    std::array<Side, 2> sides;
    for (std::int32_t own = 0; own < 2; ++own) {
      Side& side = sides[static_cast<std::size_t>(own)];
      Endpoint& here = *nodes[static_cast<std::size_t>(own)].endpoint;
      for (std::size_t i = 0; i < kMessages; ++i) {
        const auto tag = static_cast<std::int32_t>(i);
        side.in[i].make(2'100'000, i % 2 == 0);
        side.receives[i] = &here.receive({1, 1 - own, tag}, side.in[i].buffer);
        Header header{own, tag, i, random() % 4 == 0 ? 2'000'000 : 24 + size_of(random() | 1)};
        side.out[i].make(header.bytes, false);
        side.out[i].write(payload_of(header));
        side.sends[i] = here.send(LinkPeer{1 - own}, {1, own, tag}, side.out[i].buffer, static_cast<Mode>(i % 3));
      }
    }
    const auto step = [&] {
      for (Node& node : nodes) node.endpoint->progress();
    };
    for (std::uint64_t steps = random() % 200; steps > 0; --steps) step();
    cut_one(random);
    const auto all_done = [&](const auto& requests) {
      return std::ranges::all_of(requests, [](const Request* one) { return one == nullptr || one->done(); });
    };
    for (bool open = true; open;) {
      step();
      open = false;
      for (std::int32_t own = 0; own < 2; ++own) {
        const auto at = static_cast<std::size_t>(own);
        // As whoever runs the job does: a peer that has failed is failed for all.
        const bool failed = nodes[0].link->failed(LinkPeer{1}) || nodes[1].link->failed(LinkPeer{0});
        if (failed) nodes[at].endpoint->fail_receives(1, 1 - own);
        open = open || !all_done(sides[at].sends) || !all_done(sides[at].receives);
      }
    }
    for (std::size_t own = 0; own < 2; ++own) {
      Endpoint& here = *nodes[own].endpoint;
      for (std::size_t i = 0; i < kMessages; ++i) {
        const p2p::Result& result = sides[own].receives[i]->result;
        if (result.outcome == Outcome::good) {
          ++good;
          const auto got = sides[own].in[i].read(result.bytes);
          EXPECT_EQ(got, sides[1 - own].out[i].read(sides[1 - own].out[i].buffer.bytes())) << "round " << round;
        } else {
          ++lost;
          EXPECT_EQ(result.outcome, Outcome::failed);
        }
        here.release(*sides[own].receives[i]);
        if (sides[own].sends[i] != nullptr) here.release(*sides[own].sends[i]);
      }
    }
  }
  printf("%zu messages arrived, %zu failed\n", good, lost);
  EXPECT_TRUE(good != 0 && lost != 0);
}

}  // namespace
}  // namespace urakata::transport
