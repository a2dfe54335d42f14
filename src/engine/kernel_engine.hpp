// SPDX-License-Identifier: BSD-3-Clause
// Engine `kernel` as the core sees it. A build without the component (URAKATA_KERNEL=OFF) compiles
// kernel_engine_not_built.cpp instead of kernel_engine.cpp.
//
// Thread-safety: any thread.
#pragma once

#include <span>
#include <string>

#include "engine/engines.hpp"

namespace urakata::engine {

// The row of engine `kernel` in the table of engines; empty: it is not built.
std::span<const EngineRow> kernel_rows();

// Why this machine or this build cannot have engine `kernel`; empty: it can. Makes system calls to try it.
std::string why_no_kernel_engine();

}  // namespace urakata::engine
