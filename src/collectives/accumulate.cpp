// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/phases.hpp"

namespace urakata::collectives {
namespace {

// Where a contribution is received, and where our own part lies when it comes. A reduction's result takes the place of
// its right operand: of our own part for a contribution from the left, of the received one for one from the right.
struct Meeting {
  Contribution who;
  Piece received;
  Piece own;
  bool left = false;
};

}  // namespace

Nodes accumulate(Plan& plan, Piece input, Piece result, std::span<const Contribution> contributions,
                 std::uint32_t step) {
  // Backwards from the result to the place where our own part must lie at first.
  std::vector<Meeting> meetings(contributions.size());
  Piece own = result;
  for (std::size_t i = contributions.size(); i-- > 0;) {
    Meeting& meeting = meetings[i];
    meeting.who = contributions[i];
    const bool from_input = i == 0 && input != result;  // our part need not be copied if it is the left operand
    // Both ends of an exchange make the same result, which must have the same bits: the lower ranks' part is the left
    // operand on both. A result that only we make takes the sides that need no copy, where the operation commutes.
    const bool any_side = plan.commutative() && !meeting.who.answer;
    meeting.left = any_side ? !from_input : meeting.who.left;
    if (meeting.left) {
      meeting.own = own;
      meeting.received = plan.inbox(input.bytes);
    } else {
      meeting.received = own;
      meeting.own = own = from_input ? input : plan.temp(input.bytes);
    }
  }

  const Nodes moved = plan.copy(input, own);
  Nodes ready = moved;
  for (const Meeting& meeting : meetings) {
    const Nodes received = plan.recv(meeting.who.peer, meeting.received, step);
    if (meeting.received == input) plan.each(moved, received);
    // The first answer is the input itself, where nothing is written to that: it need not wait for the copy.
    const bool untouched = &meeting == meetings.data() && input != result;
    Nodes sent;
    if (meeting.who.answer) sent = plan.send(meeting.who.peer, untouched ? input : meeting.own, step);
    if (!untouched) plan.each(ready, sent);
    const Nodes reduced =
        meeting.left ? plan.reduce(meeting.received, meeting.own) : plan.reduce(meeting.own, meeting.received);
    plan.each(received, reduced);
    plan.each(ready, reduced);
    if (meeting.left) {
      if (!untouched) plan.each(sent, reduced);
      plan.recycle(meeting.received, reduced, received);
    }
    ready = reduced;
  }
  return ready;
}

Nodes fold_lower(Plan& plan, std::uint32_t below, Piece result, Nodes ready) {
  for (std::uint32_t peer = below; peer-- > 0;) {
    const Piece lower = plan.inbox(result.bytes);
    const Nodes got = plan.recv(peer, lower);
    const Nodes reduced = plan.reduce(lower, result);
    plan.each(got, reduced);
    plan.each(ready, reduced);
    plan.recycle(lower, reduced, got);
    ready = reduced;
  }
  return ready;
}

}  // namespace urakata::collectives
