// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/exchange.hpp"

#include <algorithm>

namespace urakata::collectives {
namespace {

// In place, two ranks must exchange with each other in a step, for any number of ranks: r and (step - r) mod n.
Built swap_all(const char* name, const Arguments& arguments, const Exchange& blocks, std::uint32_t ahead) {
  Plan plan(name, arguments);
  const std::uint32_t n = arguments.ranks;
  const std::uint32_t r = arguments.rank;
  std::uint64_t largest = 0;
  for (std::uint32_t peer = 0; peer < n; ++peer) {
    if (peer != r) largest = std::max(largest, blocks.in(peer).bytes);
  }
  std::vector<Piece> waiting;  // temporaries that steps use in turn
  std::vector<Nodes> stepped;  // by step: what must be finished before a later step
  for (std::uint32_t step = 0; step < n; ++step) {
    const std::uint32_t peer = (step + n - r) % n;
    if (peer == r) continue;
    const Piece place = blocks.in(peer);
    if (place.bytes == 0) continue;
    const std::size_t turn = stepped.size();
    if (ahead == 0) {
      waiting.push_back(plan.temp(place.bytes));
    } else if (turn < ahead) {
      waiting.push_back(plan.temp(largest));
    }
    Piece landing = waiting[ahead == 0 ? turn : turn % ahead];
    landing.bytes = place.bytes;
    const Nodes got = plan.recv(peer, landing);
    const Nodes sent = plan.send(peer, place);
    const Nodes placed = plan.copy(landing, place);
    plan.each(got, placed);
    plan.each(sent, placed);
    if (ahead != 0 && turn >= ahead) plan.after(stepped[turn - ahead], got + sent);
    stepped.push_back(placed);
  }
  return plan.commit();
}

}  // namespace

Built exchange_all(const char* name, const Arguments& arguments, const Exchange& blocks, std::uint32_t ahead) {
  if (arguments.in_place) return swap_all(name, arguments, blocks, ahead);
  Plan plan(name, arguments);
  const std::uint32_t n = arguments.ranks;
  const std::uint32_t r = arguments.rank;
  std::vector<Nodes> stepped;
  // All at once, receives first: by them transport `stripes` recognises an exchange of all ranks with all when it sends
  // (transport/stripes/stripes.hpp).
  if (ahead == 0) {
    for (std::uint32_t step = 1; step < n; ++step) plan.recv((r + n - step) % n, blocks.in((r + n - step) % n));
    for (std::uint32_t step = 1; step < n; ++step) plan.send((r + step) % n, blocks.out((r + step) % n));
  }
  for (std::uint32_t step = 1; step < n && ahead != 0; ++step) {
    const std::uint32_t from = (r + n - step) % n;
    const std::uint32_t to = (r + step) % n;
    const Nodes got = plan.recv(from, blocks.in(from));
    const Nodes sent = plan.send(to, blocks.out(to));
    if (stepped.size() >= ahead) plan.after(stepped[stepped.size() - ahead], got + sent);
    if (const Nodes both = got + sent; !both.empty()) stepped.push_back(both);
  }
  plan.copy(blocks.out(r), blocks.in(r));
  return plan.commit();
}

}  // namespace urakata::collectives
