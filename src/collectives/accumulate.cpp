// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/phases.hpp"

namespace urakata::collectives {
namespace {

// Where a contribution is received, and where this rank's own part lies then. The result of a reduction replaces the
// right operand: the own part if the contribution is the left operand, else the contribution.
struct Meeting {
  Contribution who;
  Piece received;
  Piece own;
  bool left = false;
};

}  // namespace

Nodes accumulate(Plan& plan, Piece input, Piece result, std::span<const Contribution> contributions,
                 std::uint32_t step) {
  // Goes backwards from the result to the place where the own part must lie at first.
  std::vector<Meeting> meetings(contributions.size());
  Piece own = result;
  for (std::size_t i = contributions.size(); i-- > 0;) {
    Meeting& meeting = meetings[i];
    meeting.who = contributions[i];
    const bool from_input = i == 0 && input != result;  // the own part need not be copied if it is the left operand
    // Both ends of an exchange make the same result, which must have the same bits: the lower ranks' part is the left
    // operand on both. If only this rank makes the result and the operation commutes, the sides are chosen so that no
    // copy is needed.
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
    // If the input is not written, it is the first answer itself, which then need not wait for the copy.
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
