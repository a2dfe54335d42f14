// SPDX-License-Identifier: BSD-3-Clause
#include "shim/collectives/direct_exchange.hpp"

#include <algorithm>
#include <atomic>
#include <new>
#include <numeric>
#include <utility>

#include "base/mutex.hpp"
#include "base/options/options.hpp"
#include "base/reserve.hpp"
#include "base/spin_lock.hpp"
#include "direct/operations.hpp"
#include "observe/observer.hpp"
#include "shim/collectives/call_binding.hpp"
#include "shim/collectives/call_staging.hpp"
#include "shim/collectives/direct_calls.hpp"
#include "shim/collectives/direct_progress.hpp"
#include "shim/collectives/direct_sides.hpp"
#include "shim/collectives/start.hpp"
#include "shim/native/without_memory.hpp"
#include "shim/process/devices.hpp"
#include "shim/process/process_state.hpp"
#include "shim/process/profiled.hpp"
#include "shim/process/space.hpp"
#include "shim/progress/wait_until.hpp"
#include "shim/requests/request.hpp"
#include "shim/requests/staging.hpp"

namespace urakata::shim {

namespace {

using Collective = collectives::Operation;
using direct::Range;

// Exchanges whose requests the program has freed.
struct Left {
  SpinLock lock;
  std::vector<std::unique_ptr<DirectExchange>> all URAKATA_GUARDED_BY(lock);
  std::atomic<bool> some{false};
};
Left& left() {
  static auto* const made = new Left;
  return *made;
}

constexpr direct::Operation::Ranks kAll = ~direct::Operation::Ranks{0};

direct::Operation::Ranks bit(std::uint32_t rank) { return direct::Operation::Ranks{1} << rank; }

direct::Operations& operations(const Communicator& comm) { return comm.direct_collectives()->nonblocking(); }

}  // namespace

DirectExchange::DirectExchange(const Call& call, const Reading& reading, Communicator& comm) : comm_(comm) {
  if (reading.element != nullptr) {
    describe_reduction(call, reading);
  } else if (call.operation != Collective::barrier) {
    describe_moves(reading);
  }
  comm_.retain();
}

DirectExchange::~DirectExchange() {
  for (const Datatype* const type : types_) type->release();
  if (reducer_) reducer_->operation->release();
  comm_.release();
}

void DirectExchange::describe_reduction(const Call& call, const Reading& reading) {
  const Key& key = reading.key;
  const std::uint32_t ranks = comm_.ranks;
  result = {comm_.rank * key.bytes, key.bytes, ranks * key.bytes};
  switch (key.operation) {
    case Collective::allreduce:
      shape = Shape::allreduce;
      break;
    case Collective::reduce:
      shape = Shape::reduce;
      break;
    case Collective::scan:
      shape = Shape::scan;
      break;
    case Collective::exscan:
      shape = Shape::exscan;
      break;
    default:
      shape = Shape::reduce_scatter;
  }
  if (key.operation == Collective::reduce_scatter) {
    const auto own = reading.blocks.begin() + comm_.rank;
    result = {std::reduce(reading.blocks.begin(), own), *own,
              std::reduce(reading.blocks.begin(), reading.blocks.end())};
  }
  root = key.root;
  out = writable(call.recv.address);
  const std::byte* const in = key.in_place ? out : static_cast<const std::byte*>(call.send.address);
  payload = {in, shape == Shape::reduce_scatter ? result.of : key.bytes};
  // The result is written over it while others may read it.
  const bool overwritten = shape == Shape::reduce_scatter || direct::Operations::is_short(payload.size());
  if (key.in_place && overwritten && payload.size() > direct::Slot::kInline) {
    packed.assign(payload.begin(), payload.end());
    payload = packed;
  }
  reducer = reading.meaning.builtin;
  if (UserOperation* const user = reading.meaning.user) {
    reducer = &reducer_.emplace(*user, *reading.element);
    user->retain();
    callers_only = true;
  }
}

void DirectExchange::describe_moves(const Reading& reading) {
  shape = Shape::moves;
  const Key& key = reading.key;
  const std::uint32_t ranks = comm_.ranks;
  const std::uint32_t rank = comm_.rank;
  const bool at_root = rank == key.root;
  const Side& recv = reading.recv;
  const Side& given = key.in_place ? recv : reading.send;
  readers = kAll;
  scattered = recv.holes;
  address_ = writable(recv.address);
  first = key.root;
  const auto take = [&](std::uint32_t from, std::uint64_t index, Range range) {
    const Block block = block_of(recv, index);
    direct::Target& target = targets[from - first];
    target.range = range;
    target.to = address_ + block.displacement;
    if (scattered) blocks_[from - first] = block;
  };
  // From all ranks; in place, this one has its own block.
  const auto take_from_all = [&](auto range_for) {
    first = 0;
    targets.resize(ranks);
    if (scattered) blocks_.resize(ranks);
    for (std::uint32_t from = 0; from < ranks; ++from) {
      if (from != rank || !key.in_place) take(from, from, range_for(from));
    }
  };
  const auto take_from_root = [&](Range range) {
    targets.resize(1);
    if (scattered) blocks_.resize(1);
    take(key.root, 0, range);
  };
  const auto whole = [&](std::uint32_t from) {
    const std::uint64_t bytes = bytes_of(block_of(recv, from));
    return Range{0, bytes, bytes};
  };
  switch (key.operation) {
    case Collective::bcast:
      if (at_root) {
        payload = payload_of(recv, 0, packed);
      } else {
        take_from_root(whole(0));
      }
      break;
    case Collective::gather:
    case Collective::gatherv:
      readers = bit(key.root);
      if (!at_root || !key.in_place) payload = payload_of(reading.send, 0, packed);
      if (at_root) take_from_all(whole);
      break;
    case Collective::scatter:
      if (at_root) payload = payload_of_all(reading.send, ranks, false, packed);
      if (!at_root || !key.in_place) take_from_root({rank * recv.bytes, recv.bytes, ranks * recv.bytes});
      break;
    case Collective::scatterv:
      if (at_root) payload_parts(reading.send, ranks, false, packed, parts);
      if (!at_root || !key.in_place) take_from_root({0, recv.bytes, recv.bytes});
      break;
    case Collective::allgather:
    case Collective::allgatherv:
      payload = payload_of(given, key.in_place ? rank : 0, packed);
      take_from_all(whole);
      break;
    case Collective::alltoall: {
      const std::uint64_t bytes = bytes_of(block_of(given, 0));
      payload = payload_of_all(given, ranks, key.in_place, packed);
      take_from_all([&](std::uint32_t) { return Range{rank * bytes, bytes, ranks * bytes}; });
      break;
    }
    default:
      payload_parts(given, ranks, key.in_place, packed, parts);
      take_from_all(whole);
  }
}

void DirectExchange::put(std::size_t index, std::span<const std::byte> range) {
  const Block& block = blocks_[index];
  if (range.empty()) return;
  block.type->unpack(range.data(), address_ + block.displacement, 0, range.size() / block.type->size);
}

void DirectExchange::begin() {
  const bool needed = operations(comm_).start(*this);
  if (needed) expect_direct_progress(std::max<std::uint64_t>(payload.size(), result.bytes));
}

void DirectExchange::wait() { operations(comm_).await(*this); }

int DirectExchange::error() const {
  if (outcome() == direct::Outcome::good) return MPI_SUCCESS;
  return outcome() == direct::Outcome::truncated ? MPI_ERR_TRUNCATE : MPI_ERR_OTHER;
}

void DirectExchange::leave(std::unique_ptr<NeighbourExchange> own, std::vector<const Datatype*> types) {
  types_ = std::move(types);
  if (finished()) return;  // `own` ends here
  const LockGuard guard(left().lock);
  left().all.emplace_back(static_cast<DirectExchange*>(own.release()));
  left().some.store(true, std::memory_order_relaxed);
}

bool destroy_left_direct() {
  if (!left().some.load(std::memory_order_relaxed)) return false;
  std::vector<std::unique_ptr<DirectExchange>> over;  // destroyed without the lock
  const LockGuard guard(left().lock);
  std::erase_if(left().all, [&](std::unique_ptr<DirectExchange>& exchange) {
    if (!exchange->finished()) return false;
    over.push_back(std::move(exchange));
    return true;
  });
  left().some.store(!left().all.empty(), std::memory_order_relaxed);
  return !over.empty();
}

void finish_direct() {
  if (endpoint() == nullptr) return;
  wait_until([] { return !direct::Operations::any_under_way(); });
  destroy_left_direct();
}

namespace {

// Makes the exchange of a fresh request. The result is an MPI error code. After an error the request still holds what it
// was given.
int make_exchange(const Call& call, Reading& reading, Communicator& comm, Request& request) {
  request.type = RequestType::exchange;
  request.communicator = &comm;
  comm.retain();
  return or_no_memory([&]() -> int {
    retain_types(reading, request);
    Call staged = call;
    if (have_devices()) {
      if (const int code = stage_call(staged, reading, request); code != MPI_SUCCESS) return code;
      if (request.staging != nullptr) {
        if (const int code = fetch(request); code != MPI_SUCCESS) return code;
      }
    }
    request.exchange = std::make_unique<DirectExchange>(staged, reading, comm);
    return MPI_SUCCESS;
  });
}

}  // namespace

bool started_directly(const Call& call, MPI_Request* request_out, int* code) {
  Communicator* const comm = communicator(call.comm);
  if (comm == nullptr || comm->direct_collectives() == nullptr || comm->direct_collectives()->revoked()) return false;
  bool bare = false;
  if (comm->by_kernel() != nullptr || !options().algorithm_for(collectives::name(call.operation), &bare).empty())
    return false;
  observe::Observer* const observer = process_state.observer;
  const std::uint64_t begin = observer != nullptr ? call_begin() : 0;
  Reading reading;
  bool right = true;
  *code = or_no_memory([&] {
    // A rank that blocks in an MPI library without a hook cannot apply a user's function (inputs_only).
    right = read_call(call, *comm, reading) && !reading.key.inputs_only &&
            suits_direct(call, reading, *comm->direct_collectives());
    return !right || (reserve::enough() && have_request()) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
  });
  if (!right) {
    // So that this rank has as many operations as the others, if only its arguments are erroneous.
    operations(*comm).fail();
    return false;
  }
  Request* const made = *code == MPI_SUCCESS ? make_request() : nullptr;
  if (made != nullptr) *code = make_exchange(call, reading, *comm, *made);
  if (*code != MPI_SUCCESS) {
    if (made != nullptr) destroy_request(made);
    operations(*comm).fail();
    complain(comm, *code);
    return true;
  }
  Request& request = *made;
  if (observer != nullptr) request.observed.started(begin);
  request.active = true;
  request.exchange->begin();
  if (observer != nullptr) {
    request.observed.returned(call_end(), profiled);
    request.call_site = call_site(*observer, call, reading.key.bytes, "poll", kDirect, "the ranks share a space");
    request.observed.at(request.call_site);
  }
  *request_out = request.handle();
  return true;
}

}  // namespace urakata::shim
