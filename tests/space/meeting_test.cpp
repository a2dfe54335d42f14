// SPDX-License-Identifier: BSD-3-Clause
// Two ranks of one job compute the same name, two jobs two names.
#include "space/meeting.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

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

// What job_identity() says in a process that descends from one of that name, by way of one of the other name.
std::string identity_below(const char* launcher, const char* between = "sh") {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return "no pipe";
  const pid_t proxy = fork();
  if (proxy == 0) {
    prctl(PR_SET_NAME, launcher);
    const pid_t parent = fork();
    if (parent == 0) {
      prctl(PR_SET_NAME, between);
      const pid_t rank = fork();
      if (rank == 0) {
        const std::string said = job_identity();
        _exit(write(ends[1], said.data(), said.size()) > 0 ? 0 : 1);
      }
      waitpid(rank, nullptr, 0);
      _exit(0);
    }
    waitpid(parent, nullptr, 0);
    _exit(0);
  }
  waitpid(proxy, nullptr, 0);
  close(ends[1]);
  std::array<char, 200> said{};
  const ssize_t bytes = read(ends[0], said.data(), said.size());
  close(ends[0]);
  const std::string all(said.data(), bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  const std::string of_proxy = "parent " + std::to_string(proxy) + " ";
  return all.starts_with(of_proxy) ? "the proxy's" : all;
}

// An interactive Slurm step has one number, and each mpiexec in it a proxy of its own on the node.
TEST(Meeting, HydrasProxyTellsJobsOfOneStepApart) {
  setenv("SLURM_JOB_ID", "7", 1);
  setenv("SLURM_STEP_ID", "2", 1);
  setenv("PMIX_NAMESPACE", "slurm.pmix.7.2", 1);
  EXPECT_EQ(identity_below("hydra_pmi_proxy"), "the proxy's");
  EXPECT_EQ(identity_below("mpiexec.gforker"), "the proxy's");
  EXPECT_EQ(identity_below("prterun"), "pmix slurm.pmix.7.2");
  unsetenv("PMIX_NAMESPACE");
  EXPECT_EQ(identity_below("slurmstepd"), "slurm 7.2");
  for (const char* one : {"SLURM_JOB_ID", "SLURM_STEP_ID"}) unsetenv(one);
}

// A rank under Hydra starts a job of another MPI library, whose launcher is nearer.
TEST(Meeting, TheNearestLauncherCounts) {
  setenv("PMIX_NAMESPACE", "4711@1", 1);
  for (const char* nearest : {"mpirun", "mpiexec", "orterun", "prterun", "prun", "srun"}) {
    EXPECT_EQ(identity_below("hydra_pmi_proxy", nearest), "pmix 4711@1") << nearest;
  }
  unsetenv("PMIX_NAMESPACE");
}

TEST(Meeting, WithoutADaemonProgramThereIsAReason) {
  const auto met = connect_to_daemon(meeting_name("none"), "/no/such/urakata-spaced");
  ASSERT_FALSE(met);
  EXPECT_NE(met.error().message.find("/no/such/urakata-spaced"), std::string::npos);
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
