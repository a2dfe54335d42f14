// SPDX-License-Identifier: BSD-3-Clause
// The parts of a rendezvous that need nothing of an endpoint but the request.
//
// Thread-safety: by the thread that is in the sender's endpoint.
#pragma once

#include "p2p/open_message.hpp"
#include "p2p/pieces.hpp"

namespace urakata::p2p {

// Packs a send of Form::packing, whose RTS is out, in pieces. The receiver unpacks what is there meanwhile.
void pack_on(Request& send, const PieceSizes& sizes);

// Copies pieces of a payload whose receiver has asked for help. The receiver does not end the send before this side's
// pieces are in `helped`, and only this side gives the request back, so the request stays valid while this function
// runs.
void help(Request& send);

}  // namespace urakata::p2p
