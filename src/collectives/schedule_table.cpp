// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/schedule_table.hpp"

#include <span>
#include <utility>

#include "base/mutex.hpp"

namespace urakata::collectives {

namespace {

template <class Number>
void add(std::vector<std::uint64_t>& words, std::span<const Number> numbers) {
  words.push_back(numbers.size());
  for (const Number number : numbers) words.push_back(static_cast<std::uint64_t>(number));
}

std::size_t size_of(const schedule::Schedule& schedule) {
  return sizeof schedule + schedule.nodes().size_bytes() + schedule.edges().size_bytes() +
         schedule.temps().size_bytes() +
         sizeof(schedule::NodeId) * (3 * schedule.nodes().size() + schedule.edges().size());  // the graph's indices
}

}  // namespace

std::size_t ScheduleTable::Hash::operator()(const Words& words) const {
  std::uint64_t value = 0xcbf29ce484222325U;
  for (const std::uint64_t word : words) {
    value = (value ^ word) * 0x100000001b3U;
    value ^= value >> 32U;
  }
  return value;
}

void ScheduleTable::read_key(const Algorithm& algorithm, const Arguments& arguments) {
  // Names all members, so that this does not compile when Arguments gets a member that is not part of the key.
  const auto& [ranks, rank, root, in_place, bytes, element, extent, commutative, send, recv, neighbours, segment,
               in_turn] = arguments;
  key_.assign({reinterpret_cast<std::uintptr_t>(&algorithm), ranks, rank, root, bytes, element, extent, segment,
               std::uint64_t{in_place} | std::uint64_t{commutative} << 1U | std::uint64_t{in_turn} << 2U});
  for (const Blocks& blocks : {send, recv}) {
    add(key_, blocks.bytes);
    add(key_, blocks.displacements);
  }
  for (const auto& ranks_of : {neighbours.destinations, neighbours.sources, neighbours.order}) add(key_, ranks_of);
}

std::shared_ptr<const schedule::Schedule> ScheduleTable::use(Kept& kept) {
  uses_.splice(uses_.begin(), uses_, kept.use);
  return kept.schedule;
}

std::shared_ptr<const schedule::Schedule> ScheduleTable::find(const Algorithm& algorithm, const Arguments& arguments) {
  const LockGuard guard(lock_);
  read_key(algorithm, arguments);
  const auto found = kept_.find(key_);
  return found != kept_.end() ? use(found->second) : nullptr;
}

std::shared_ptr<const schedule::Schedule> ScheduleTable::keep(const Algorithm& algorithm, const Arguments& arguments,
                                                              schedule::Schedule built) {
  auto made = std::make_shared<const schedule::Schedule>(std::move(built));
  const LockGuard guard(lock_);
  read_key(algorithm, arguments);
  const std::size_t bytes =
      size_of(*made) + key_.size() * sizeof(std::uint64_t) + sizeof(Map::value_type) + sizeof(void*) * 6;
  if (bytes > room_ / 4) return made;
  const auto [place, added] = kept_.try_emplace(key_);
  Kept& kept = place->second;
  if (!added) return use(kept);
  kept = {made, bytes, uses_.insert(uses_.begin(), &place->first)};
  for (bytes_ += bytes; bytes_ > room_; uses_.pop_back()) {
    const auto oldest = kept_.find(*uses_.back());
    bytes_ -= oldest->second.bytes;
    kept_.erase(oldest);
  }
  return made;
}

}  // namespace urakata::collectives
