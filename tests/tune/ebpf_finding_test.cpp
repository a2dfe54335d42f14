// SPDX-License-Identifier: BSD-3-Clause
// Attached at eth0, and eth1's table belongs to root: "small reductions by eBPF code attached at eth0; not at eth1:
// ...".
#include "tune/ebpf_finding.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace urakata::tune::ebpf_finding_test {
namespace {

constexpr const char* kNothing = "no eBPF code is attached for this user (urakata kernel attach, by root)";

TEST(EbpfFinding, NamesWhereItIsAttached) {
  const std::array places = {EbpfPlace{"eth0", ""}, EbpfPlace{"eth1", ""}};
  EXPECT_EQ(ebpf_finding(places), "small reductions by eBPF code attached at eth0, eth1");
}

TEST(EbpfFinding, GivesTheReasonOfEachPlace) {
  const std::array some = {EbpfPlace{"eth0", ""}, EbpfPlace{"eth1", "/table/1000: Permission denied"}};
  EXPECT_EQ(ebpf_finding(some),
            "small reductions by eBPF code attached at eth0; not at eth1: /table/1000: Permission denied");
  const std::array none = {EbpfPlace{"eth0", kNothing}, EbpfPlace{"eth1", "/t/0: Operation not permitted"}};
  EXPECT_EQ(ebpf_finding(none), std::string("small reductions are engine thread's, by eBPF code nowhere; not at "
                                            "eth0: ") +
                                    kNothing + "; not at eth1: /t/0: Operation not permitted");
}

// Where the kernel refuses, to have it attached does not help, and is not advised.
TEST(EbpfFinding, AdvisesToAttachOnlyWhereThatIsWhatIsMissing) {
  const std::array refused = {EbpfPlace{"eth0", "/table/1000: Operation not permitted"}};
  EXPECT_EQ(ebpf_finding(refused).find("kernel attach"), std::string::npos);
  EXPECT_EQ(ebpf_finding({}), "small reductions are engine thread's: no interface of this node leads to another one");
}

}  // namespace
}  // namespace urakata::tune::ebpf_finding_test
