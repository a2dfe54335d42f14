// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/matching.hpp"

namespace urakata::p2p {

bool Matching::awaits(std::uint32_t context, std::int32_t source, bool from_any) const {
  for (const Request* receive = posted_.first(); receive != nullptr; receive = receive->next) {
    const Envelope& awaited = receive->envelope;
    if (awaited.context != context) continue;
    if (awaited.source == source || (from_any && awaited.source == kAnySource)) return true;
  }
  return false;
}

void Matching::keep_in_order(Unexpected& message) {
  unexpected_.insert(message, [&](const Unexpected& u) {
    return u.envelope.context == message.envelope.context && u.envelope.source == message.envelope.source &&
           older(message.order, u.order);
  });
}

const Unexpected* Matching::find(const Envelope& pattern) const {
  for (const Unexpected* u = unexpected_.first(); u != nullptr; u = u->next) {
    if (matches(pattern, u->envelope)) return u;
  }
  return nullptr;
}

bool Matching::alone(const Envelope& key) const {
  for (const Request* r = posted_.first(); r != nullptr; r = r->next) {
    if (matches(r->envelope, key)) return false;
  }
  for (const Unexpected* u = unexpected_.first(); u != nullptr; u = u->next) {
    if (u->envelope == key) return false;
  }
  return true;
}

}  // namespace urakata::p2p
