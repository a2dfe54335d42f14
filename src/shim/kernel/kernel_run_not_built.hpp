// SPDX-License-Identifier: BSD-3-Clause
// kernel_run.hpp in a build without engine `kernel` (URAKATA_KERNEL=OFF): no instance has an executor.
//
// Thread-safety: any thread.
#pragma once

#include "engine/executor.hpp"

namespace urakata::shim {

struct KernelRun {
  static bool can_progress(const engine::Executor* executor) { return executor->can_progress(); }
};

}  // namespace urakata::shim
