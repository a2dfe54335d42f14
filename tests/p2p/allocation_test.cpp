// SPDX-License-Identifier: BSD-3-Clause
// Starts of a matched persistent pair allocate nothing, whichever way the payloads go. Eager ones take no request
// either.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../counted_allocations.hpp"
#include "p2p/endpoint.hpp"

namespace urakata::p2p::test::allocation_test {
namespace {

// 0 sends to 1 what the round is, which 1 has asked for: the pair is there from the third round on.
TEST(PairAllocation, StartsTakeNothing) {
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{8}, Endpoint::kEager, Endpoint::kEager + 1,
                                    std::uint64_t{3000}, std::uint64_t{100'000}}) {
    for (const Mode mode : {Mode::standard, Mode::synchronous}) {
      SCOPED_TRACE(std::to_string(bytes) + (mode == Mode::standard ? " bytes" : " bytes, synchronous"));
      Endpoint sender{Callers::one}, receiver{Callers::one};
      sender.expect_pairs();
      receiver.expect_pairs();
      const Envelope key{1, 0, 5};
      std::vector<std::byte> from(bytes), to(bytes);
      Persistent send, receive;
      const Request* taken = nullptr;  // of the receive, by every start
      std::uint64_t before = 0;
      for (unsigned round = 1; round <= 3 * kRingEntries; ++round) {
        const bool paired = round > 3;
        if (round == 4) before = urakata::test::allocations.load();
        std::fill(from.begin(), from.end(), static_cast<std::byte>(round));
        Request& posted = receiver.start(receive, key, {to.data(), bytes, nullptr});
        Request* const sent = sender.start(send, receiver.port(), key, {from.data(), bytes, nullptr}, mode);
        if (paired) {
          EXPECT_TRUE(send.out != nullptr && send.out->put == round - 2 && receive.in != nullptr);
          EXPECT_EQ(&posted, taken);
          EXPECT_EQ(sent == nullptr && !sender.open(), bytes <= Endpoint::kEager && mode == Mode::standard);
        }
        while (!posted.done() || (sent != nullptr && !sent->done())) {
          receiver.progress();
          sender.progress();
        }
        taken = receive.in != nullptr ? receive.in->request : nullptr;
        receiver.release(receive, posted);
        if (sent != nullptr) sender.release(*sent);
        EXPECT_EQ(to, from);
      }
      EXPECT_EQ(urakata::test::allocations.load(), before);
      EXPECT_GT(before, 0U);
    }
  }
}

}  // namespace
}  // namespace urakata::p2p::test::allocation_test
