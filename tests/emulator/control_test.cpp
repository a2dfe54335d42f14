// SPDX-License-Identifier: BSD-3-Clause
// "set 0 delay=8000000" sets it; "set 0 delay=soon" says what is possible and changes nothing.
#include "emulator/control.hpp"

#include <gtest/gtest.h>

#include <string>

#include "packets.hpp"

namespace urakata::emulator {
namespace {

TEST(Control, SettingsAreOfTheirDirectionAndStayUntilSetAgain) {
  Directions directions;
  ASSERT_TRUE(
      obey(directions, "set 0 delay=8000000 rate=400000000 queue=800000 flow-rate=25000000 flow-queue=131072").ok());
  ASSERT_TRUE(obey(directions, "set 0 loss=0.001 seed=5\n").ok());
  EXPECT_EQ(directions[0].settings().delay_ns, 8'000'000U);
  EXPECT_EQ(directions[0].settings().rate, 400'000'000U);
  EXPECT_EQ(directions[0].settings().flow_queue, 131'072U);
  EXPECT_EQ(directions[0].settings().loss, 0.001);
  EXPECT_EQ(directions[1].settings().delay_ns, 0U);
}

TEST(Control, FlowsAreNamedByAddressAndPort) {
  Directions directions;
  ASSERT_TRUE(obey(directions, "cut 0 10.87.0.1:40000 any").ok());
  directions[0].offer(testing::tcp(100, 40000), 0);
  directions[0].offer(testing::tcp(100, 40001), 0);
  EXPECT_EQ(directions[0].counters().cut, 1U);
  ASSERT_TRUE(obey(directions, "restore 0 10.87.0.1:40000 any").ok());
  directions[0].offer(testing::tcp(100, 40000), 0);
  EXPECT_EQ(directions[0].counters().cut, 1U);
  ASSERT_TRUE(obey(directions, "set 0 flow-queue=100000").ok());
  ASSERT_TRUE(obey(directions, "flow-rate 0 10.87.0.1 10.87.1.1 1000000").ok());
  EXPECT_EQ(directions[0].flows().begin()->second.rate, 1'000'000U);
}

TEST(Control, WrongWordsAreToldAndChangeNothing) {
  Directions directions;
  for (const char* command : {"",
                              "set",
                              "set 2 delay=1",
                              "set 0 delay",
                              "set 0 delay=soon",
                              "set 0 delay=-1",
                              "set 0 delay=10000000001",
                              "set 0 rate=7999",
                              "set 0 loss=1.1",
                              "set 0 loss=nan",
                              "set 0 queue=0",
                              "set 0 speed=1",
                              "set 0 delay=1 loss=2",
                              "cut 0 any",
                              "cut 0 10.87.0 any",
                              "cut 0 10.87.0.1:66000 any",
                              "flow-rate 0 any any",
                              "flow-rate 0 any any 1",
                              "flow-rate 0 any any 1000000",
                              "stats 0",
                              "sing 0"}) {
    const Status done = obey(directions, command);
    ASSERT_FALSE(done.ok()) << command;
    EXPECT_NE(done.error().message.find_first_of(":"), std::string::npos) << done.error().message;
    EXPECT_EQ(directions[0].settings().delay_ns, 0U) << command;
  }
  EXPECT_EQ(answer(directions, "sing 0", {}).find(R"({"error":"the command 'sing 0' is not possible)"), 0U);
}

TEST(Control, StatisticsNameFlowsAndCountSegments) {
  Directions directions;
  directions[1].offer(testing::tcp(10 * testing::kSegment), 0);
  const std::string said = answer(directions, "stats", [](JsonWriter& json) { json.key("machine").number(1); });
  for (const char* part : {R"("error":"")", R"("from":"10.87.0.1:40000","to":"10.87.1.1:5000")", R"("offered":10,)",
                           R"("offered_bytes":15000,)", R"("machine":1)"}) {
    EXPECT_NE(said.find(part), std::string::npos) << part << " in " << said;
  }
}

}  // namespace
}  // namespace urakata::emulator
