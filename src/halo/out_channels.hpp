// SPDX-License-Identifier: BSD-3-Clause
// The sending channels of a neighbourhood channel, inside the space and between nodes, and which of them have a payload
// that has not left.
//
// A channel inside the space is an OutChannel (channel.hpp). A channel between nodes has a number in FarChannels, and
// uses only `bytes` and `source` of its OutChannel.
//
// Thread-safety: by one thread at a time. After the constructor nothing allocates. The object must keep its address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "halo/channel.hpp"
#include "halo/channel_end.hpp"
#include "halo/channel_places.hpp"
#include "halo/counts.hpp"

namespace urakata::halo {

class FarChannels;

class OutChannels {
 public:
  // `shared_most` as in Costs. `far` may be nullptr if no end is ChannelEnd::by_wire(). `port` and `far` must outlive
  // the object.
  OutChannels(p2p::Port& port, std::span<const ChannelEnd> ends, std::uint64_t shared_most, FarChannels* far);
  OutChannels(const OutChannels&) = delete;
  OutChannels& operator=(const OutChannels&) = delete;
  ~OutChannels() = default;

  Record record(std::size_t end);
  Fit fit(std::size_t end) const;
  // Number of channels with bytes.
  std::size_t size() const { return used_.size(); }

  // Fetches the ready flags that begin() will read.
  void prefetch_ready() const;
  // Starts exchange k with elements at `from`. Copies for rendezvous with neighbours that have begun already come after
  // the puts to all other neighbours.
  void begin(std::uint64_t k, const std::byte* from, Counts& counts);
  // Continues exchange k. `late`: this rank has waited for long.
  void advance(std::uint64_t k, bool late, Counts& counts);
  // Whether a late advance() would do anything.
  bool can_progress(std::uint64_t k) const;
  // Number of channels whose payload has not left.
  std::size_t leaving() const { return leaving_.size(); }

  // Whether a receiver in the space has said that it has failed.
  bool told_of_failure() const;
  // Tells the receivers in the space that this rank has failed.
  void tell_failure() const;
  // After a failure: stops waiting for receivers on other nodes, for receivers that have said that they have failed,
  // and for those that have the whole payload.
  void give_up(std::uint64_t k);

  void retire() const;
  bool released() const;

 private:
  bool advance(std::uint64_t k, std::uint32_t channel, bool late, Counts& counts);

  FarChannels* const far_;
  const ChannelPlaces places_;
  std::vector<OutChannel> channels_;
  std::vector<std::optional<std::uint32_t>> far_number_;  // by channel: the number in FarChannels; nullopt: near
  std::vector<std::uint32_t> used_;                       // channels with bytes; constant
  std::vector<std::uint32_t> leaving_;                    // channels whose payload has not left; has capacity for all
};

}  // namespace urakata::halo
