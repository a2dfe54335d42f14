// SPDX-License-Identifier: BSD-3-Clause
#include "shim/collectives/channel_exchange.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "base/options/options.hpp"
#include "base/threads.hpp"
#include "base/waiting.hpp"
#include "shim/collectives/call_staging.hpp"
#include "shim/native/native_bootstrap.hpp"
#include "shim/native/native_library.hpp"
#include "shim/native/private_comms.hpp"
#include "shim/process/copying_costs.hpp"
#include "shim/process/devices.hpp"
#include "shim/process/job_setup.hpp"
#include "shim/process/process_state.hpp"
#include "shim/process/space.hpp"
#include "shim/progress/engine_wait.hpp"
#include "shim/progress/progress.hpp"
#include "shim/progress/wait_until.hpp"
#include "shim/requests/request.hpp"
#include "shim/requests/staging.hpp"

namespace urakata::shim {

namespace {

using collectives::Neighbourhood;

constexpr std::uint64_t kLongestNap =
    100'000;  // ns, while both a neighbour in the space and the wire may need this rank

struct All {
  SpinLock lock;
  std::vector<ChannelExchange*> active URAKATA_GUARDED_BY(lock);  // exchanges under way; capacity for all
  std::atomic<std::size_t> count{0};                              // number of exchanges under way
  std::atomic<std::size_t> near{0};                               // number of these with channels inside the space
  std::atomic<std::size_t> by_progress_thread{0};                 // number of these that the progress thread handles
  std::atomic<bool> stopped{false};                               // whether stop_all() has been called
  std::size_t made URAKATA_GUARDED_BY(lock) = 0;  // number of existing exchanges, and capacity of `active`
  std::atomic<std::uint64_t> bounce_bytes{0};     // sum of halo::BounceBuffers::bytes over all exchanges
  // Exchanges whose memory a neighbour may still need. A thread must hold `stepping` to destroy them: another thread
  // that holds it may still use elements of `active`.
  std::vector<std::unique_ptr<ChannelExchange>> abandoned URAKATA_GUARDED_BY(lock);
  SpinLock stepping;
};
All& all() {
  static auto* made = new All;
  return *made;
}

// Whether a payload may go to another node by a put. Exchanges progress in the rank's calls only. If a progress thread
// runs the communicator's schedules, payloads that the kernel does not take at once go by a schedule instead.
bool leaves(std::uint64_t bytes, const Communicator& group) {
  const bool helped = group.engine != nullptr && group.engine->name().starts_with(name(EngineKind::thread));
  return bytes <= kFirstWindow || !helped;
}

// The endpoints of one side, without those that lead to MPI_PROC_NULL. nullopt: one of them cannot have a channel.
std::optional<std::vector<halo::ChannelEnd>> ends(const Side& side, std::span<const std::uint32_t> ranks,
                                                  const Communicator& group) {
  std::vector<halo::ChannelEnd> made;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] == Neighbourhood::kNobody) continue;
    const Block& block = side.block(i);
    const bool plain = block.type->contiguous;
    if (!plain && block.elements != 0 && block.type->shape() == nullptr) return std::nullopt;
    const auto way = ChannelExchange::way_to(group.world[ranks[i]]);
    if (!way || (*way != halo::ChannelEnd::kNear && !leaves(block.elements * block.type->size, group)))
      return std::nullopt;
    made.push_back({ranks[i], static_cast<std::ptrdiff_t>(block.displacement),
                    plain ? block.elements * block.type->size : block.elements, plain ? nullptr : block.type->shape(),
                    *way});
  }
  return made;
}

// The port by which channels inside a space wake this rank. A rank without an endpoint may still be its own neighbour.
p2p::Port& port() {
  if (endpoint() != nullptr) return endpoint()->port();
  static auto* own = new p2p::Port;
  return *own;
}

}  // namespace

bool ChannelExchange::any_in_job() { return endpoints_in_job() || job_setup().transports().any(); }

std::optional<std::int32_t> ChannelExchange::way_to(std::int32_t world_rank) {
  const std::int32_t own = process_state.world_rank;
  if (world_rank == own || (endpoint() != nullptr && port_of(world_rank) != nullptr)) return halo::ChannelEnd::kNear;
  if (job_setup().wire() == nullptr || !job_setup().transports().by_wire(own, world_rank)) return std::nullopt;
  // One connection is not enough for a link between sites.
  if (job_setup().stripes() != nullptr && ranks_at_other_sites()[static_cast<std::size_t>(world_rank)])
    return std::nullopt;
  return world_rank;
}

ChannelExchange::ChannelExchange(std::span<const halo::ChannelEnd> out, std::span<const halo::ChannelEnd> in,
                                 const halo::Costs& costs)
    : channel_(port(), out, in, costs, job_setup().wire() != nullptr ? &job_setup().wire()->puts() : nullptr) {
  fetch_add(all().bounce_bytes, channel_.bounce_buffers().bytes, std::memory_order_relaxed);
  if (channel_.any_far()) the_progress->hook();  // neighbours may wait while the program blocks in the MPI library
  const LockGuard guard(all().lock);
  ++all().made;
}

ChannelExchange::~ChannelExchange() {
  fetch_add(all().bounce_bytes, 0 - channel_.bounce_buffers().bytes, std::memory_order_relaxed);
  {
    const LockGuard guard(all().lock);
    --all().made;
  }
  for (const Datatype* type : types_) type->release();
}

void ChannelExchange::Extent::operator+=(const Extent& other) {
  near += other.near;
  far += other.far;
  bounce_buffers.without += other.bounce_buffers.without;
  bounce_buffers.refused += other.bounce_buffers.refused;
  if (other.bounce_buffers.bytes < bounce_buffers.bytes) return;
  bounce_buffers.bytes = other.bounce_buffers.bytes;
  bounce_buffers.budget = other.bounce_buffers.budget;
}

void ChannelExchange::tell(const Extent& of_all) {
  const auto neighbours = [](std::uint64_t count) {
    return std::to_string(count) + (count == 1 ? " neighbour" : " neighbours");
  };
  const auto kib = [](std::uint64_t bytes) { return std::to_string((bytes + 1023) / 1024); };
  const halo::BounceBuffers& bounce_buffers = of_all.bounce_buffers;
  why_ = of_all.near != 0 || of_all.far == 0 ? neighbours(of_all.near) + " by stores" : "";
  if (of_all.far != 0) why_ += (why_.empty() ? "" : ", ") + neighbours(of_all.far) + " by put frames";
  why_ +=
      "; bounce buffers: at most " + kib(bounce_buffers.bytes) + " of " + kib(bounce_buffers.budget) + " KiB of a rank";
  if (bounce_buffers.without != 0) why_ += ", none for " + neighbours(bounce_buffers.without);
  if (bounce_buffers.refused != 0) why_ += " (" + std::to_string(bounce_buffers.refused) + " for want of room)";
}

std::unique_ptr<ChannelExchange> ChannelExchange::make_here(const Reading& reading, const Communicator& group) try {
  if (!have_request() || (have_devices() && needs_staging(reading))) return nullptr;
  const auto out = ends(reading.send, reading.neighbours.destinations, group);
  const auto in = ends(reading.recv, reading.neighbours.sources, group);
  std::unique_ptr<ChannelExchange> made = out && in ? make(*out, *in) : nullptr;
  if (made != nullptr) {
    made->bind(static_cast<const std::byte*>(reading.send.address),
               static_cast<std::byte*>(const_cast<void*>(reading.recv.address)));
  }
  return made;
} catch (const std::bad_alloc&) {
  return nullptr;
}

std::unique_ptr<ChannelExchange> ChannelExchange::make(std::span<const halo::ChannelEnd> out,
                                                       std::span<const halo::ChannelEnd> in) {
  if (!options().neighbours_directly()) return nullptr;
  destroy_released();
  const halo::Costs costs = exchange_costs(all().bounce_bytes.load(std::memory_order_relaxed));
  try {
    std::unique_ptr<ChannelExchange> made(new ChannelExchange(out, in, costs));
    const LockGuard guard(all().lock);
    all().active.reserve(all().made);
    return made;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

ChannelExchange::Proposal ChannelExchange::propose(const Reading* reading, Communicator& comm) {
  Proposal made;
  if (reading != nullptr && !comm.channels_refused) made.exchange = make_here(*reading, comm);
  made.answer = agree_on_channel(comm, made.exchange != nullptr ? ChannelAnswer::yes : ChannelAnswer::no);
  if (made.answer != ChannelAnswer::yes) made.exchange.reset();
  return made;
}

bool ChannelExchange::meet(const Call& call, const Reading& reading, const Communicator& group) {
  struct Joined {
    bool good;
    Extent extent;
  };
  NativeBootstrap members(call.comm);
  const auto all = members.gathered(Joined{join_all(reading, group), extent()});
  if (all.empty() || !std::ranges::all_of(all, &Joined::good)) return false;
  Extent sum;
  for (const Joined& one : all) sum += one.extent;
  tell(sum);
  return true;
}

// Carries the record of each channel from its sender to its receiver. Messages between two ranks do not overtake, so
// the k-th sending endpoint from one rank to the other meets the k-th receiving one.
bool ChannelExchange::join_all(const Reading& reading, const Communicator& group) {
  const auto& [destinations, sources, order] = reading.neighbours;
  constexpr int kBytes = sizeof(halo::Record);
  std::vector<MPI_Request> requests;
  std::vector<std::pair<std::size_t, halo::Record>> got;
  got.reserve(sources.size());
  std::vector<std::size_t> channel(sources.size());  // by source: number of its receiving endpoint
  for (std::size_t i = 0, next = 0; i < sources.size(); ++i) {
    channel[i] = next;
    next += sources[i] != Neighbourhood::kNobody ? 1U : 0U;
  }
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::size_t s = order.empty() ? i : order[i];
    if (sources[s] == Neighbourhood::kNobody) continue;
    got.emplace_back(channel[s], halo::Record{});
    native.Irecv(&got.back().second, kBytes, MPI_BYTE, group.world[sources[s]], group.tag_from(0, 0),
                 private_comms.world, &requests.emplace_back());
  }
  std::vector<halo::Record> sent;
  sent.reserve(destinations.size());
  for (const std::uint32_t to : destinations) {
    if (to == Neighbourhood::kNobody) continue;
    sent.push_back(channel_.record(sent.size()));
    native.Isend(&sent.back(), kBytes, MPI_BYTE, group.world[to], group.tag_to(static_cast<std::int32_t>(to), 0, 0),
                 private_comms.world, &requests.emplace_back());
  }
  native.Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  bool good = true;
  for (const auto& [in, record] : got) good = channel_.join(in, record) == halo::Fit::good && good;
  return good;  // senders need not call fit(), since all ranks hear of every receiver's result
}

void ChannelExchange::begin() {
  const LockGuard guard(lock_);
  channel_.begin(from_, to_);
  if (channel_.complete()) return end();
  done_.store(false, std::memory_order_relaxed);
  {
    const LockGuard list(all().lock);
    all().active.push_back(this);
  }
  fetch_add(all().count, std::size_t{1}, std::memory_order_relaxed);
  if (!all_far()) fetch_add(all().near, std::size_t{1}, std::memory_order_relaxed);
  expect_messages();
  if (!by_progress_thread_) return;
  all().by_progress_thread.fetch_add(1, std::memory_order_relaxed);
  expect_long_exchange();
}

bool ChannelExchange::progress() {
  if (!lock_.try_lock()) return false;
  const LockGuard guard(lock_, std::adopt_lock);
  if (done_.load(std::memory_order_relaxed)) return false;
  const bool moved = channel_.progress();
  return settle() || moved;
}

// Ends the exchange if it is complete, and returns whether it is. Called under lock_ while the exchange is under way.
bool ChannelExchange::settle() {
  if (!channel_.complete()) return false;
  {
    const LockGuard list(all().lock);
    std::erase(all().active, this);
  }
  fetch_add(all().count, ~std::size_t{0}, std::memory_order_relaxed);
  if (!all_far()) fetch_add(all().near, ~std::size_t{0}, std::memory_order_relaxed);
  if (by_progress_thread_) all().by_progress_thread.fetch_sub(1, std::memory_order_relaxed);
  end();
  return true;
}

bool ChannelExchange::ready(std::size_t in) {
  if (done()) return true;
  if (!lock_.try_lock()) return false;
  const LockGuard guard(lock_, std::adopt_lock);
  if (done_.load(std::memory_order_relaxed)) return true;
  const bool here = channel_.ready(in);
  settle();
  return here;
}

std::optional<std::size_t> ChannelExchange::ready_any() {
  if (!lock_.try_lock()) return std::nullopt;
  const LockGuard guard(lock_, std::adopt_lock);
  const bool was_done = done_.load(std::memory_order_relaxed);
  const std::optional<std::size_t> found = channel_.ready_any();
  if (!was_done) settle();
  return found;
}

void ChannelExchange::end() {
  if (observed_ != nullptr) observed_->done(now_ns());
  if (abandoned_) retire();
  done_.store(true, std::memory_order_release);
}

// After the barrier of MPI_Finalize a neighbour may be gone. It need not be told any more.
void ChannelExchange::retire() {
  if (!all().stopped.load(std::memory_order_relaxed)) channel_.retire();
}

void ChannelExchange::wait() {
  const LongWait waits(by_progress_thread_);
  if (all_far()) {
    Waiting waiting(nullptr);
    while (!done()) waiting.step();
    return;
  }
  constexpr unsigned kAlone = 100;  // tests of this exchange before others get progress, too
  for (unsigned i = 0; i < kAlone && !process_state.oversubscribed; ++i) {
    progress();
    if (done()) return;
    pause();
  }
  const auto over = [this] {
    progress();
    return done();
  };
  if (endpoint() == nullptr) {  // the only near neighbour is the rank itself
    Waiting waiting(nullptr);
    while (!over()) waiting.step();
    return;
  }
  p2p::BackoffSettings settings = endpoint()->backoff_settings();
  // A neighbour in the space wakes this rank from a nap, the wire does not.
  if (channel_.any_far()) settings.longest_nap = std::min(settings.longest_nap, kLongestNap);
  wait_until(over, settings);
}

void ChannelExchange::leave(std::unique_ptr<NeighbourExchange> own, std::vector<const Datatype*> types) {
  {
    const LockGuard guard(lock_);
    types_ = std::move(types);
    observed_ = nullptr;
    abandoned_ = true;
    if (done()) retire();
  }
  {
    const LockGuard list(all().lock);
    all().abandoned.emplace_back(static_cast<ChannelExchange*>(own.release()));
  }
  destroy_released();
}

void ChannelExchange::destroy_released() {
  std::vector<std::unique_ptr<ChannelExchange>> released;  // destroyed last, without a lock
  const LockGuard nobody(all().stepping);
  const LockGuard list(all().lock);
  std::erase_if(all().abandoned, [&](std::unique_ptr<ChannelExchange>& exchange) {
    if (!exchange->done() || !exchange->channel_.released()) return false;
    released.push_back(std::move(exchange));
    return true;
  });
}

void ChannelExchange::stop_all() {
  const LockGuard nobody(all().stepping);
  const LockGuard list(all().lock);
  all().active.clear();
  all().count.store(0, std::memory_order_relaxed);
  all().near.store(0, std::memory_order_relaxed);
  all().by_progress_thread.store(0, std::memory_order_relaxed);
  all().stopped.store(true, std::memory_order_relaxed);
}

void ChannelExchange::destroy_abandoned() {
  std::vector<std::unique_ptr<ChannelExchange>> gone;  // destroyed last, without a lock
  const LockGuard list(all().lock);
  gone.swap(all().abandoned);
}

bool exchanges_under_way() { return all().count.load(std::memory_order_relaxed) != 0; }
bool near_exchanges_under_way() { return all().near.load(std::memory_order_relaxed) != 0; }
bool long_exchanges_under_way() { return all().by_progress_thread.load(std::memory_order_relaxed) != 0; }

void start_exchange_progress() {
  periodic = new PeriodicProgress("urakata/exchange", "neighbourhood channels", [] {
    progress_exchanges();
    return exchanges_under_way();
  });
}

bool progress_exchanges() {
  if (!exchanges_under_way() || !all().stepping.try_lock()) return false;
  const LockGuard stepping(all().stepping, std::adopt_lock);
  if (job_setup().wire() != nullptr) job_setup().wire()->step();
  bool moved = false;
  for (std::size_t i = 0;; ++i) {
    ChannelExchange* next = nullptr;
    {
      const LockGuard list(all().lock);
      if (i >= all().active.size()) return moved;
      next = all().active[i];
    }
    moved = next->progress() || moved;
  }
}

}  // namespace urakata::shim
