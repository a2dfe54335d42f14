// SPDX-License-Identifier: BSD-3-Clause
// Two ranks' parts of the kernel in one process, joined by a real connection. What their offloads send comes to a
// socket where nobody answers, as where the other's eBPF code has let the communicator go.
#include "engine/kernel.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "../chain/connected.hpp"
#include "chain/submitter.hpp"
#include "xdp/frame.h"
#include "xdp/table.hpp"

namespace urakata::engine {
namespace {

constexpr std::uint64_t kPartTimeout = 600'000'000'000;
constexpr std::uint64_t kToken = 0x5ec7e7;

// The parts of both ranks of one communicator.
struct Parts {
  std::array<std::unique_ptr<KernelPart>, 2> of;
  std::array<int, 2> sockets{};  // the channel sets'
};

class KernelParts : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = chain::why_no_chains(); !why.empty()) GTEST_SKIP() << why;
    silent_ = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address_;
    ASSERT_EQ(bind(silent_, reinterpret_cast<sockaddr*>(&address_), size), 0);
    ASSERT_EQ(getsockname(silent_, reinterpret_cast<sockaddr*>(&address_), &size), 0);
  }
  void TearDown() override {
    submitter_.stop();
    if (silent_ >= 0) close(silent_);
  }

  Parts make_parts() {
    Parts made;
    made.sockets = chain::connected();
    sockaddr_in any = address_;
    any.sin_port = 0;
    std::vector<xdp::Side> sides;
    for (std::size_t rank = 0; rank < 2; ++rank) {
      std::vector<chain::Peer> peers(2);
      peers[1 - rank] = {made.sockets[rank], static_cast<std::int32_t>(1 - rank)};
      made.of[rank].reset(
          new KernelPart{std::move(*chain::ChannelSet::open(std::move(peers), 0, submitter_, kPartTimeout)),
                         std::move(*xdp::Offload::over(table_, any, kPartTimeout))});
      sides.push_back(made.of[rank]->offload->side());
      sides.back().address = address_;
    }
    for (std::uint32_t rank = 0; rank < 2; ++rank) made.of[rank]->offload->join(sides, rank, kToken);
    return made;
  }

  // Frames that have come since it was asked last.
  unsigned frames() {
    unsigned count = 0;
    std::array<char, 2048> frame{};
    while (recv(silent_, frame.data(), frame.size(), 0) > 0) ++count;
    return count;
  }

  chain::Submitter submitter_;
  transport::Failures failures_{7};

 private:
  const std::unique_ptr<ura_xdp_slot[]> slots_{new ura_xdp_slot[URA_XDP_SLOTS]()};
  const std::shared_ptr<xdp::Table> table_ = xdp::Table::over(slots_.get());
  sockaddr_in address_{};
  int silent_ = -1;
};

constexpr std::uint32_t kBarrier = URA_XDP_FORM(URA_XDP_BARRIER, 0, 0, 0, 0);

// The receiver of a broadcast has it, and has gone; the root need not ask it.
TEST_F(KernelParts, ARootDoesNotWaitForWhoHasLeft) {
  Parts parts = make_parts();
  std::array<std::byte, 8> bytes{};
  xdp::Offload& root = *parts.of[0]->offload;
  const xdp::Offload::Work bcast{URA_XDP_FORM(URA_XDP_BCAST, 0, 0, 0, 8), nullptr};
  ASSERT_TRUE(root.start(bcast, bytes.data(), bytes.data(), nullptr));
  std::vector<xdp::Offload::Done> done;
  root.reap(done);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(frames(), 1U);
  parts.of[1].reset();
  while (parts.of[0]->channel_set->check_peers(0) == 0) {
  }
  parts.of[0].reset();
  EXPECT_EQ(frames(), 0U);
}

// A rank that is waited for has left: it may have given what is missing, which its node then still has. One that has
// ended without a word is lost, whichever of the communicators it was of.
TEST_F(KernelParts, WhoHasLeftIsNoFailureAndWhoIsLostIs) {
  Parts parts = make_parts();
  Parts other = make_parts();
  ExecutorTransport transport(failures_);
  for (Parts* one : {&other, &parts}) {
    transport.add(*one->of[0]);
    ASSERT_TRUE(one->of[0]->offload->start({kBarrier, nullptr}, nullptr, nullptr, one));
  }
  parts.of[1].reset();
  while (parts.of[0]->channel_set->check_peers(0) == 0) {
  }
  for (unsigned polls = 0; polls < 1U << 16U; ++polls) ASSERT_TRUE(transport.poll().empty());
  shutdown(other.sockets[1], SHUT_RDWR);
  auto ended = transport.poll();
  while (ended.empty()) ended = transport.poll();
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].ticket.instance, &other);
  EXPECT_EQ(ended[0].error, failures_.code);
  EXPECT_FALSE(parts.of[0]->offload->broken());
  for (Parts* one : {&other, &parts}) transport.remove(*one->of[0]);
}

// A root frees its communicator while the receiver computes, who has not said that it has what it was sent: other
// threads go on with other communicators meanwhile. The root's part ends when the receiver leaves.
TEST_F(KernelParts, WhoWaitsForAPeerKeepsNobodyElseWaiting) {
  constexpr std::uint64_t kForLong = 600'000'000'000;
  Parts parts = make_parts();
  Parts other = make_parts();
  ExecutorTransport transport(failures_);
  std::array<std::byte, 8> bytes{};
  const xdp::Offload::Work bcast{URA_XDP_FORM(URA_XDP_BCAST, 0, 0, 0, 8), nullptr};
  transport.add(*parts.of[0]);
  ASSERT_TRUE(parts.of[0]->offload->start(bcast, bytes.data(), bytes.data(), nullptr));
  while (transport.poll().empty()) {
  }
  frames();
  std::thread freeing([&] { transport.end(std::move(parts.of[0]), kForLong); });
  while (frames() == 0) {  // the receiver is asked
  }
  transport.add(*other.of[0]);
  EXPECT_TRUE(transport.poll().empty());
  EXPECT_EQ(transport.in_flight(), 0U);
  transport.end(std::move(other.of[0]), kForLong);  // nothing was given there
  parts.of[1].reset();
  freeing.join();
}

// The same without waiting: the part stays until a later call.
TEST_F(KernelParts, APartThatCannotEndYetEndsLater) {
  Parts parts = make_parts();
  Parts other = make_parts();
  ExecutorTransport transport(failures_);
  std::array<std::byte, 8> bytes{};
  const xdp::Offload::Work bcast{URA_XDP_FORM(URA_XDP_BCAST, 0, 0, 0, 8), nullptr};
  transport.add(*parts.of[0]);
  transport.add(*other.of[0]);
  ASSERT_TRUE(parts.of[0]->offload->start(bcast, bytes.data(), bytes.data(), nullptr));
  while (transport.poll().empty()) {
  }
  chain::ChannelSet& channel_set = *parts.of[0]->channel_set;
  transport.end(std::move(parts.of[0]), 0);
  const int connection = parts.sockets[0];
  EXPECT_NE(fcntl(connection, F_GETFD), -1);
  parts.of[1].reset();
  while (channel_set.check_peers(0) == 0) {  // the part exists, until it is known that the receiver has left
  }
  transport.end(std::move(other.of[0]), 0);
  EXPECT_EQ(fcntl(connection, F_GETFD), -1);
}

}  // namespace
}  // namespace urakata::engine
