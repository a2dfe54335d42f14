// SPDX-License-Identifier: BSD-3-Clause
// Engine `kernel` as the core sees it. A build without the component (URAKATA_KERNEL=OFF) has kernel_engine_not_built.cpp
// in the place of kernel_engine.cpp.
//
// Thread-safety: any thread.
#pragma once

#include <span>
#include <string>

#include "engine/engines.hpp"

namespace urakata::engine {

// Its row of the table of engines; empty: it is not built.
std::span<const EngineRow> kernel_rows();

// Why this machine or this build has no engine kernel; empty: it has. Makes system calls to try it.
std::string why_no_kernel_engine();

}  // namespace urakata::engine
