// SPDX-License-Identifier: BSD-3-Clause
// Making a halo: all ranks agree on whether it can be, and how.
#include <algorithm>
#include <new>
#include <utility>

#include "observe/observer.hpp"
#include "shim/communicators/communicator.hpp"
#include "shim/native/native_bootstrap.hpp"
#include "shim/native/native_library.hpp"
#include "shim/native/world_ranks.hpp"
#include "shim/process/devices.hpp"
#include "shim/process/job_setup.hpp"
#include "shim/process/process_state.hpp"
#include "shim/types/datatype.hpp"
#include "shim/user/halo_meeting.hpp"
#include "shim/user/user_halo.hpp"

namespace urakata::shim {

namespace {

// The best means that a rank can offer. All ranks use the least of the offers.
enum class Means : std::uint8_t { none, messages, channel };

struct Outcome {
  Means means = Means::none;
  std::uint64_t bytes = 0;
  std::uint64_t neighbours = 0;
  ChannelExchange::Extent extent;
};

// The endpoints of a side's channels; nullopt: one of them cannot have a channel. `world`: by rank of the communicator,
// the rank in MPI_COMM_WORLD.
std::optional<std::vector<halo::ChannelEnd>> ends(const HaloSide& side, std::span<const std::int32_t> world) {
  std::vector<halo::ChannelEnd> made;
  for (std::size_t i = 0; i < side.ranks.size(); ++i) {
    const auto peer = static_cast<std::uint32_t>(side.ranks[i]);
    const auto way =
        side.ranks[i] == MPI_PROC_NULL ? std::optional(halo::ChannelEnd::kNear) : ChannelExchange::way_to(world[peer]);
    if (!way) return std::nullopt;
    if (side.bytes[i] == 0) {
      made.push_back({peer, 0, 0, nullptr, *way});
      continue;
    }
    const Datatype* const type = datatype(side.types[i].handle());
    const layout::Shape* const shape = type != nullptr ? type->shape() : nullptr;
    if (shape == nullptr) return std::nullopt;
    if (shape->blocks() == 1) {
      made.push_back({peer, static_cast<std::ptrdiff_t>(shape->start()), shape->size(), nullptr, *way});
    } else {
      made.push_back({peer, 0, 1, shape, *way});
    }
  }
  return made;
}

// nullptr: this rank cannot have a neighbourhood channel, for want of memory for instance. The vectors are not known
// yet, so any of them may be in device memory.
std::unique_ptr<ChannelExchange> exchange_of(const HaloSide& out, const HaloSide& in, MPI_Comm comm) try {
  const std::vector<std::int32_t> world = world_ranks(comm);
  if (have_devices() || world.empty()) return nullptr;
  const auto sends = ends(out, world);
  const auto receives = ends(in, world);
  return sends && receives ? ChannelExchange::make(*sends, *receives) : nullptr;
} catch (const std::bad_alloc&) {
  return nullptr;
}

// Joins the receiving endpoints whose senders have a neighbourhood channel, too. Error: the two endpoints of a channel
// differ.
Result<Means> join(ChannelExchange* exchange, const HaloSide& in, const std::vector<ChannelWord>& words) {
  Means means = exchange != nullptr ? Means::channel : Means::messages;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (in.ranks[i] == MPI_PROC_NULL) continue;
    if (words[i].bytes != in.bytes[i]) {
      return Error{"rank " + std::to_string(in.ranks[i]) + " sends " + std::to_string(words[i].bytes) +
                   " bytes, and receive neighbour " + std::to_string(i) + " here is to get " +
                   std::to_string(in.bytes[i])};
    }
    if (words[i].record.channel == nullptr) means = Means::messages;
    if (means == Means::channel) exchange->join(i, words[i].record);
  }
  return means;
}

void retain_types_of(const HaloSide& side, std::vector<const Datatype*>& types) {
  for (std::size_t i = 0; i < side.types.size(); ++i) {
    if (side.bytes[i] == 0) continue;
    types.push_back(datatype(side.types[i].handle()));
    types.back()->retain();
  }
}

std::uint64_t sum(const std::vector<std::uint64_t>& bytes) {
  std::uint64_t all = 0;
  for (const std::uint64_t one : bytes) all += one;
  return all;
}

// The duplicate on which the ranks meet, until it has an owner.
struct Duplicate {
  explicit Duplicate(MPI_Comm of) { native.Comm_dup(of, &comm); }
  ~Duplicate() {
    if (comm != MPI_COMM_NULL) native.Comm_free(&comm);
  }
  Duplicate(const Duplicate&) = delete;
  Duplicate& operator=(const Duplicate&) = delete;
  MPI_Comm comm = MPI_COMM_NULL;
};

Error of_others() { return {"another rank's neighbours or lists are wrong, as that rank says; nothing was made"}; }

}  // namespace

Result<std::unique_ptr<UserHalo>> UserHalo::make(MPI_Comm comm, Result<HaloSide> out, Result<HaloSide> in,
                                                 const void* site) {
  Duplicate own(comm);
  if (own.comm == MPI_COMM_NULL) return Error{"the MPI library does not duplicate the communicator"};
  NativeBootstrap members(own.comm);
  const auto sides = members.gathered(static_cast<std::uint8_t>(out.ok() && in.ok() ? 1 : 0));
  if (!out.ok()) return out.error();
  if (!in.ok()) return in.error();
  if (sides.empty() || std::ranges::find(sides, 0) != sides.end()) return of_others();

  std::unique_ptr<UserHalo> made(new UserHalo);
  made->sources_ = in->ranks.size();
  made->site_ = site;
  const bool possible = !process_state.native_only && ChannelExchange::any_in_job();
  std::unique_ptr<ChannelExchange> exchange = possible ? exchange_of(*out, *in, comm) : nullptr;

  std::vector<ChannelWord> words(out->ranks.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i].bytes = out->bytes[i];
    if (exchange != nullptr) words[i].record = exchange->record(i);
  }
  const auto told = meet(own.comm, out->ranks, words, in->ranks);
  const auto best = told.ok() ? join(exchange.get(), *in, *told) : Result<Means>(told.error());
  const auto all = members.gathered(Outcome{best.ok() ? *best : Means::none, sum(out->bytes), out->ranks.size(),
                                            exchange != nullptr ? exchange->extent() : ChannelExchange::Extent{}});
  if (!best.ok()) return best.error();
  std::uint64_t bytes = 0;
  std::uint64_t neighbours = 0;
  ChannelExchange::Extent extent;
  Means means = all.empty() ? Means::none : Means::channel;
  for (const Outcome& one : all) {
    means = std::min(means, one.means);
    bytes += one.bytes;
    neighbours += one.neighbours;
    extent += one.extent;
  }
  if (means == Means::none) return of_others();
  made->bytes_ = bytes / std::max<std::uint64_t>(neighbours, 1);
  if (means == Means::channel) {
    made->exchange_ = std::move(exchange);
    made->exchange_->tell(extent);
    made->exchange_->move_while_computing();
    made->why_ = made->exchange_->why();
    retain_types_of(*out, made->types_);
    retain_types_of(*in, made->types_);
    // Keeps the duplicate for its error handler. transports().any() is the same on all ranks.
    if (job_setup().transports().any()) made->comm_ = std::exchange(own.comm, MPI_COMM_NULL);
  } else {
    made->why_ = possible ? "a rank cannot have a neighbourhood channel for it"
                          : "ranks share no space, and transport wire joins no nodes";
    made->native_ =
        std::make_unique<NativeExchange>(std::exchange(own.comm, MPI_COMM_NULL), std::move(*out), std::move(*in));
  }
  if (made->by_channel() && process_state.observer != nullptr) made->exchange_->observe(&made->observed_);
  return made;
}

}  // namespace urakata::shim
