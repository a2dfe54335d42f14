// SPDX-License-Identifier: BSD-3-Clause
// What `urakata check` says of small collectives by eBPF code on this node. A build without engine `kernel`
// (URAKATA_KERNEL=OFF) has ebpf_not_built.cpp in the place of ebpf_here.cpp.
#pragma once

#include <span>
#include <string>

namespace urakata {

// One clause: at which interfaces this user may use eBPF code for small collectives, and why not at the others.
// `interfaces`: names of those by which other nodes reach this one.
std::string ebpf_here(std::span<const std::string> interfaces);

}  // namespace urakata
