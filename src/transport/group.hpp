// A group: what the core knows of a communicator.
#pragma once

#include <cstdint>
#include <vector>

namespace urakata::transport {

struct Group {
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
  std::vector<std::int32_t> world;  // world rank of each group rank
};

}  // namespace urakata::transport
