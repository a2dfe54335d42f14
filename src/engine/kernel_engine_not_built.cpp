// SPDX-License-Identifier: BSD-3-Clause
// engine/kernel_engine.hpp in a build without engine `kernel` (URAKATA_KERNEL=OFF).
#include "engine/kernel_engine.hpp"

namespace urakata::engine {

std::span<const EngineRow> kernel_rows() { return {}; }

std::string why_no_kernel_engine() { return "this build has no engine kernel (URAKATA_KERNEL=OFF)"; }

}  // namespace urakata::engine
