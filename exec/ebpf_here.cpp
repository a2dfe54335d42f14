// SPDX-License-Identifier: BSD-3-Clause
#include "ebpf_here.hpp"

#include <net/if.h>

#include <memory>
#include <vector>

#include "base/result.hpp"
#include "tune/ebpf_finding.hpp"
#include "xdp/table.hpp"

namespace urakata {

std::string ebpf_here(std::span<const std::string> interfaces) {
  std::vector<tune::EbpfPlace> places;
  for (const std::string& interface : interfaces) {
    const Result<std::shared_ptr<xdp::Table>> table = xdp::Table::open(if_nametoindex(interface.c_str()));
    places.push_back({interface, table.ok() ? "" : table.error().message});
  }
  return tune::ebpf_finding(places);
}

}  // namespace urakata
