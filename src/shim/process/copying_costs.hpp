// SPDX-License-Identifier: BSD-3-Clause
// The costs of copying in force (tune/costs.hpp), as the layers below take them.
//
// Thread-safety: all by any thread.
#pragma once

#include <cstdint>

#include "halo/channel_costs.hpp"
#include "p2p/copying.hpp"

namespace urakata::shim {

// Settings for messages in a space, including option SPACE_COPY.
p2p::CopyingSettings own_copying();

// Costs for a new neighbourhood channel. `bounce_bytes`: sum of halo::BounceBuffers::bytes over those that exist.
halo::Costs exchange_costs(std::uint64_t bounce_bytes);

}  // namespace urakata::shim
