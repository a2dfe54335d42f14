// Who copies a message whose elements have holes (DESIGN.md, decision 9).
#pragma once

#include <cstdint>

#include "p2p/elements.hpp"

namespace urakata::p2p {

enum class Copying : std::uint8_t {
  receiver,  // from the sender's elements into its own, in one pass
  sender,    // packs; the receiver unpacks
  both,      // as receiver, and a sender that waits takes pieces of it too
};

// What is best for a payload of these elements, which have a shape; from `shared` bytes on both may copy. `exchange`:
// the sender waits for messages as well, so it will be busy with those.
Copying choose_copying(const Elements& from, std::uint64_t bytes, std::uint64_t shared, bool exchange);

}  // namespace urakata::p2p
