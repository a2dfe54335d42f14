// SPDX-License-Identifier: BSD-3-Clause
#include "shim/lifecycle/refusal.hpp"

#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "base/log.hpp"
#include "job/shared_lines.hpp"
#include "shim/native/native_library.hpp"

namespace urakata::shim {

namespace {

void say(const std::string& message) {
  char node[256] = {};
  gethostname(node, sizeof node - 1);
  log::error("%s: %s", node, message.c_str());
}

[[noreturn]] void end_job() {
  // At MPI_Abort a launcher may end before it has read what the ranks wrote last (seen with Hydra 5.0.2).
  usleep(100'000);
  native.Abort(MPI_COMM_WORLD, 2);
  std::_Exit(2);
}

}  // namespace

void refuse_job(const std::string& message) {
  say(message);
  end_job();
}

void refuse_together(job::Bootstrap& world, std::span<const std::int32_t> nodes, const std::string& message) {
  std::vector<std::string> own;
  if (!message.empty()) own.push_back(message);
  const job::SharedLines shared = job::share_lines(world, nodes, own);
  if (!shared.any) return;
  for (const std::string& line : shared.here) say(line);
  // All is said before the job ends.
  world.meet(sched_yield);
  if (shared.first == world.rank()) end_job();
  for (;;) pause();  // until that rank has ended the job
}

}  // namespace urakata::shim
