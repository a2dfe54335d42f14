// SPDX-License-Identifier: BSD-3-Clause
// ebpf_here.hpp in a build without engine `kernel` (URAKATA_KERNEL=OFF).
#include "ebpf_here.hpp"

namespace urakata {

std::string ebpf_here(std::span<const std::string>) { return "this build has no eBPF code (URAKATA_KERNEL=OFF)"; }

}  // namespace urakata
