// SPDX-License-Identifier: BSD-3-Clause
// What `urakata check` says of engine kernel's small collectives by eBPF code. Thread-safety: any thread.
#pragma once

#include <span>
#include <string>

namespace urakata::tune {

// An interface by which other nodes reach this one.
struct EbpfPlace {
  std::string interface;
  std::string obstacle;  // why this user may not have eBPF code reduce there, as text for the user; empty: he may
};

// One clause: at which of a node's interfaces this user may have small collectives, and why not at the others.
std::string ebpf_finding(std::span<const EbpfPlace> places);

}  // namespace urakata::tune
