// SPDX-License-Identifier: BSD-3-Clause
// An inbox whose positions are about to pass a power of two works as a new one: empty until something is filled, then
// what was filled, in order.
#include "p2p/inbox.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>

#include "p2p/message_slots.hpp"

namespace urakata::p2p::inbox_test {
namespace {

// Through three rings' worth of messages of one and of two slots, from a little before `limit` positions.
void passes(std::uint64_t limit) {
  const auto inbox = std::make_unique<Inbox>(limit - Inbox::kSlots - 3);
  for (int number = 0; inbox->next() < limit + 2 * Inbox::kSlots; ++number) {
    ASSERT_EQ(inbox->peek(), nullptr) << "at " << inbox->next();
    std::array<std::byte, 64> payload{};
    std::memcpy(payload.data(), &number, sizeof number);
    const std::size_t bytes = number % 3 == 0 ? payload.size() : sizeof number;
    std::uint64_t position = 0;
    ASSERT_TRUE(inbox->claim(slots_for(bytes), &position));
    fill(*inbox, position, slots_for(bytes), 0, {}, Kind::eager, payload.data(), bytes, false);
    const Slot* const come = inbox->peek();
    ASSERT_NE(come, nullptr) << "at " << inbox->next();
    int got = -1;
    gather(*inbox, *come, reinterpret_cast<std::byte*>(&got), sizeof got);
    EXPECT_EQ(got, number);
    inbox->pop(come->first.slots());
  }
}

TEST(Inbox, GoesOnAfterAllSequenceNumbersOf32Bits) { passes(std::uint64_t{Inbox::kSlots} << 32U); }
TEST(Inbox, GoesOnAfterAllSequenceNumbersOf31Bits) { passes(std::uint64_t{Inbox::kSlots} << 31U); }

}  // namespace
}  // namespace urakata::p2p::inbox_test
