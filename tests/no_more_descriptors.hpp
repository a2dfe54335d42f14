// SPDX-License-Identifier: BSD-3-Clause
// A process that has as many descriptors as it may, for tests of what happens then.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace urakata {

// While it lives, this process can open nothing more.
class NoMoreDescriptors {
 public:
  NoMoreDescriptors() {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit limit = before_;
    limit.rlim_cur = static_cast<rlim_t>(last_) + 1;
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  }
  ~NoMoreDescriptors() {
    close(last_);
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before_), 0);
  }
  NoMoreDescriptors(const NoMoreDescriptors&) = delete;
  NoMoreDescriptors& operator=(const NoMoreDescriptors&) = delete;

 private:
  const int last_ = dup(STDERR_FILENO);  // the lowest number that was free
  rlimit before_{};
};

}  // namespace urakata
