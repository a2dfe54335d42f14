// Two ranks of one job compute the same name, two jobs two names.
#include "space/meeting.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace urakata::space {
namespace {

TEST(Meeting, NameIsOfUserAndJob) {
  EXPECT_EQ(meeting_name("one"), meeting_name("one"));
  EXPECT_NE(meeting_name("one"), meeting_name("two"));
  EXPECT_NE(meeting_name("one").find("-" + std::to_string(geteuid()) + "-"), std::string::npos);
}

TEST(Meeting, TheLauncherNamesTheJob) {
  for (const char* one : {"PMIX_NAMESPACE", "SLURM_JOB_ID", "SLURM_STEP_ID", "PMI_JOBID"}) unsetenv(one);
  const std::string by_parent = job_identity();
  EXPECT_NE(by_parent.find(std::to_string(getppid())), std::string::npos);
  setenv("SLURM_JOB_ID", "7", 1);
  EXPECT_EQ(job_identity(), by_parent) << "a job without its step may hold several";
  setenv("SLURM_STEP_ID", "2", 1);
  EXPECT_EQ(job_identity(), "slurm 7.2");
  setenv("PMIX_NAMESPACE", "prterun-1@1", 1);
  EXPECT_EQ(job_identity(), "pmix prterun-1@1");
  for (const char* one : {"PMIX_NAMESPACE", "SLURM_JOB_ID", "SLURM_STEP_ID"}) unsetenv(one);
}

TEST(Meeting, WithoutAKeeperProgramThereIsAReason) {
  const auto met = meet_keeper(meeting_name("none"), "/no/such/urakata-keeper");
  ASSERT_FALSE(met);
  EXPECT_NE(met.error().message.find("/no/such/urakata-keeper"), std::string::npos);
}

TEST(Meeting, BothEndsOfAPairAreTheSameUser) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends.data()), 0);
  EXPECT_TRUE(same_user(ends[0]));
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace urakata::space
