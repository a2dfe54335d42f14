// SPDX-License-Identifier: BSD-3-Clause
// The proxy process of a task: the process that the launcher sees in the task's place.
#pragma once

#include <string>

#include "base/result.hpp"
#include "space/handover.hpp"

namespace urakata::space {

// Starts the command as a task of this job's space, and makes this process the task's proxy. The proxy passes signals
// on to the task, and ends as the task ends: with its exit code, or by the same signal. Proxy and task stop, continue
// and die together, and both die with the launcher, if there is one. Returns only if the command could not be started
// in a space, with the reason; this process is then as before. `daemon` and `proxy` are the paths of urakata-spaced and
// urakata-proxy. This process executes the latter when the task runs. To be called by the process's only thread.
Error become_proxy(const Command& command, const std::string& daemon, const std::string& proxy);

}  // namespace urakata::space
