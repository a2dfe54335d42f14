// The costs of copying in force (tune/costs.hpp), as the layers below take them.
//
// Thread-safety: all by any thread.
#pragma once

#include <cstdint>

#include "halo/neighbourhood_channel.hpp"
#include "p2p/copying.hpp"

namespace urakata::shim {

// Of messages in a space, with what option SPACE_COPY asks for.
p2p::CopyingSettings own_copying();

// Of a new exchange plan. `landing`: what this process's other plans take (halo::Landing::bytes).
halo::Costs exchange_costs(std::uint64_t bounce_bytes);

}  // namespace urakata::shim
