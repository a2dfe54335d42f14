// SPDX-License-Identifier: BSD-3-Clause
#include "shim/process/profiled.hpp"

namespace urakata::shim {

constinit thread_local observe::ProfiledThread profiled;

constinit std::atomic<const std::atomic<std::uint32_t>*> program_waits{nullptr};

}  // namespace urakata::shim
