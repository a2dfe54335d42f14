// SPDX-License-Identifier: BSD-3-Clause
// How much an operation between sites makes nodes send and receive: the terms H and h of the model (lanes/model.hpp),
// which follow from the schedules.
//
// Bytes that cross the long link count as those to nodes of the same site, since both use the node's own link. A node's
// sends and receives do not hinder each other. Nodes are counted, and not ranks: what ranks of one node send each other
// uses no network.
//
// Thread-safety: all by any thread.
#pragma once

#include <cstdint>

#include "collectives/collectives.hpp"
#include "lanes/site_placement.hpp"

namespace urakata::lanes {

struct Inside {
  double bytes = 0;        // H: bytes that the busiest node sends, or that it receives
  std::uint32_t hops = 0;  // h: hops of a segment inside the sites, before and after it crosses
};
// For an operation that lanes::covers(), between sites `one` and `other`. The root of a rooted operation is at `one`.
// `lanes`: as lanes::build() takes it.
Inside inside(collectives::Operation operation, const collectives::Arguments& arguments, const Placement& placement,
              Site one, Site other, std::uint32_t lanes);

}  // namespace urakata::lanes
