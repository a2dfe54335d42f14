// SPDX-License-Identifier: BSD-3-Clause
// What `urakata check` says of small collectives by eBPF code on this node. A build without engine `kernel`
// (URAKATA_KERNEL=OFF) has ebpf_not_built.cpp in the place of ebpf_here.cpp.
#pragma once

#include <span>
#include <string>

namespace urakata {

// Where this user may have small collectives by eBPF code, and what is missing elsewhere. `interfaces`: by which other
// nodes reach this one.
std::string ebpf_here(std::span<const std::string> interfaces);

}  // namespace urakata
