// Attached at eth0, and eth1's table belongs to root: "small reductions by byte code attached at eth0; not at eth1: ...".
#include "tune/byte_code_finding.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace urakata::tune {
namespace {

constexpr const char* kNothing = "no byte code is attached for this user (urakata kernel attach, by root)";

TEST(ByteCodeFinding, NamesWhereItIsAttached) {
  const std::array places = {ByteCodePlace{"eth0", ""}, ByteCodePlace{"eth1", ""}};
  EXPECT_EQ(byte_code_finding(places), "small reductions by byte code attached at eth0, eth1");
}

TEST(ByteCodeFinding, GivesTheReasonOfEachPlace) {
  const std::array some = {ByteCodePlace{"eth0", ""}, ByteCodePlace{"eth1", "/table/1000: Permission denied"}};
  EXPECT_EQ(byte_code_finding(some),
            "small reductions by byte code attached at eth0; not at eth1: /table/1000: Permission denied");
  const std::array none = {ByteCodePlace{"eth0", kNothing}, ByteCodePlace{"eth1", "/t/0: Operation not permitted"}};
  EXPECT_EQ(byte_code_finding(none), std::string("small reductions are engine thread's, by byte code nowhere; not at "
                                                 "eth0: ") +
                                         kNothing + "; not at eth1: /t/0: Operation not permitted");
}

// Where the kernel refuses, to have it attached does not help, and is not advised.
TEST(ByteCodeFinding, AdvisesToAttachOnlyWhereThatIsWhatIsMissing) {
  const std::array refused = {ByteCodePlace{"eth0", "/table/1000: Operation not permitted"}};
  EXPECT_EQ(byte_code_finding(refused).find("kernel attach"), std::string::npos);
  EXPECT_EQ(byte_code_finding({}),
            "small reductions are engine thread's: no interface of this node leads to another one");
}

}  // namespace
}  // namespace urakata::tune
