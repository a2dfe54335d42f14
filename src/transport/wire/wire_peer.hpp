// SPDX-License-Identifier: BSD-3-Clause
// What a Wire has with one peer. Thread-safety: under the Wire's lock.
#pragma once

#include "transport/wire/pair_connection.hpp"
#include "transport/wire/puts.hpp"
#include "transport/wire/wire_receives.hpp"
#include "transport/wire/wire_sends.hpp"

namespace urakata::transport {

struct WirePeer {
  WirePeer(const FailedContexts& failed, int failure) : sends(pair), receives(pair, failed, failure) {}

  PairConnection pair;
  WireSends sends;
  WireReceives receives;
  PutSink* current_put = nullptr;  // whose put is coming in; nullptr: nobody's, or nobody's any more
};

}  // namespace urakata::transport
