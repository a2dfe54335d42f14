// SPDX-License-Identifier: BSD-3-Clause
#include "tune/ebpf_finding.hpp"

namespace urakata::tune {

std::string ebpf_finding(std::span<const EbpfPlace> places) {
  if (places.empty()) return "small reductions are engine thread's: no interface of this node leads to another one";
  std::string attached;
  std::string others;
  for (const EbpfPlace& place : places) {
    if (place.obstacle.empty()) {
      attached.append(attached.empty() ? "" : ", ").append(place.interface);
    } else {
      others.append("; not at ").append(place.interface).append(": ").append(place.obstacle);
    }
  }
  if (attached.empty()) return "small reductions are engine thread's, by eBPF code nowhere" + others;
  return "small reductions by eBPF code attached at " + attached + others;
}

}  // namespace urakata::tune
