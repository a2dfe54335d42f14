// SPDX-License-Identifier: BSD-3-Clause
#include "xdp/retransmission.hpp"

#include <algorithm>

#include "base/log.hpp"

namespace urakata::xdp {

namespace {

// A frame takes some microseconds, also to a busy node.
constexpr std::uint64_t kFirstWait = 500'000;  // ns

}  // namespace

bool Retransmission::request_missing(std::uint32_t number, std::uint32_t form, std::uint64_t now_ns) {
  if (!missing_.runs()) {
    missing_.start(now_ns, kFirstWait, 2 * kFirstWait);
    hear_from(now_ns);
  }
  if (!missing_.due(now_ns)) return true;
  const std::uint32_t lack = cells_.missing(number, form);
  for (std::uint32_t other = 0; other < cells_.ranks(); ++other) {
    if ((lack & bit(other)) == 0) continue;
    if (!hears(other, now_ns)) return false;
    frames_.send(other, URA_XDP_REQUEST, number, form);
    frames_.ping(other);
  }
  return true;
}

bool Retransmission::ask_whether_received(std::uint64_t now_ns) {
  if (!cells_.oldest_ended()) return true;
  if (!unconfirmed_.runs()) {
    unconfirmed_.start(now_ns, 0, kFirstWait / 5);
    hear_from(now_ns);
  }
  const bool again = unconfirmed_.has_been_due();
  if (!unconfirmed_.due(now_ns)) return true;
  const std::uint32_t lack = cells_.lacking();
  for (std::uint32_t other = 0; other < cells_.ranks(); ++other) {
    if ((lack & bit(other)) == 0) continue;
    if (!hears(other, now_ns)) return false;
    ask(other, again);
    frames_.ping(other);
  }
  return true;
}

// Half of the cells are time enough for the answer. In symmetric operations later frames tell it without a question.
void Retransmission::ask_ahead(std::uint32_t next) {
  const std::uint32_t oldest = cells_.oldest();
  if (next - oldest <= URA_XDP_CELLS / 2 || !is_before(asked_ahead_, oldest + 1) || !cells_.oldest_ended()) return;
  const std::uint32_t lack = cells_.lacking();
  for (std::uint32_t other = 0; other < cells_.ranks(); ++other) {
    if ((lack & bit(other)) != 0) ask(other, unconfirmed_.has_been_due());
  }
  asked_ahead_ = oldest + 1;
}

// `again`: a rank that has been asked before may not have the row, so the row is sent again.
void Retransmission::ask(std::uint32_t other, bool again) {
  if (again) frames_.send(other, URA_XDP_DATA, cells_.oldest(), cells_.oldest_form());
  frames_.send(other, URA_XDP_ASK, cells_.oldest(), cells_.oldest_form());
}

void Retransmission::hear_from(std::uint64_t now_ns) { std::ranges::fill(heard_ns_, now_ns); }

// Whether the rank's node has answered within the timeout. If not, tells the user.
bool Retransmission::hears(std::uint32_t other, std::uint64_t now_ns) {
  if (frames_.has_answered(other)) heard_ns_[other] = now_ns;
  if (now_ns - heard_ns_[other] < timeout_ns_) return true;
  log::error("small collectives by eBPF code: the node of the communicator's rank %u does not answer", other);
  return false;
}

}  // namespace urakata::xdp
