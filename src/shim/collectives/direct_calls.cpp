// SPDX-License-Identifier: BSD-3-Clause
#include "shim/collectives/direct_calls.hpp"

#include <cstring>
#include <new>
#include <numeric>
#include <span>
#include <vector>

#include "direct/direct_collectives.hpp"
#include "observe/observer.hpp"
#include "shim/collectives/call_reading.hpp"
#include "shim/collectives/call_request.hpp"
#include "shim/collectives/call_staging.hpp"
#include "shim/collectives/direct_moves.hpp"
#include "shim/collectives/start.hpp"
#include "shim/communicators/communicator.hpp"
#include "shim/process/devices.hpp"
#include "shim/process/process_state.hpp"
#include "shim/process/profiled.hpp"
#include "shim/process/space.hpp"
#include "shim/requests/staging.hpp"

namespace urakata::shim {

namespace {

using collectives::Operation;
using direct::Outcome;
using Bytes = std::span<const std::byte>;

int code_of(Outcome outcome) {
  if (outcome == Outcome::good) return MPI_SUCCESS;
  return outcome == Outcome::truncated ? MPI_ERR_TRUNCATE : MPI_ERR_OTHER;
}

// Inputs that others read while the result is written over them. Kept per thread, so that a call allocates nothing once
// it has been as large.
thread_local std::vector<std::byte> input_aside;

Outcome reduce_scatter(const Reading& reading, direct::Collectives& direct, const std::byte* in, std::byte* out,
                       const reduce::Reducer& reducer) {
  std::uint64_t bytes = reading.key.bytes;
  std::uint64_t offset = direct.rank() * bytes;
  std::uint64_t all = direct.ranks() * bytes;
  if (reading.key.operation == Operation::reduce_scatter) {
    bytes = reading.blocks[direct.rank()];
    offset = std::reduce(reading.blocks.begin(), reading.blocks.begin() + direct.rank());
    all = std::reduce(reading.blocks.begin(), reading.blocks.end());
  }
  if (reading.key.in_place) {
    input_aside.assign(in, in + all);
    in = input_aside.data();
  }
  return direct.reduce_scatter(in, out, bytes, offset, all, reducer);
}

Outcome reduce(const Call& call, const Reading& reading, direct::Collectives& direct, const reduce::Reducer& reducer) {
  const Key& key = reading.key;
  auto* const out = static_cast<std::byte*>(writable(call.recv.address));
  const auto* const in = key.in_place ? out : static_cast<const std::byte*>(call.send.address);
  switch (key.operation) {
    case Operation::allreduce:
      return direct.allreduce(in, out, key.bytes, reducer);
    case Operation::reduce:
      return direct.reduce(in, out, key.bytes, reducer, key.root);
    case Operation::scan:
    case Operation::exscan:
      return direct.scan(in, out, key.bytes, reducer, key.operation == Operation::exscan);
    default:
      return reduce_scatter(reading, direct, in, out, reducer);
  }
}

Outcome reduce(const Call& call, const Reading& reading, direct::Collectives& direct) {
  if (reading.meaning.user == nullptr) return reduce(call, reading, direct, *reading.meaning.builtin);
  return reduce(call, reading, direct, UserReducer(*reading.meaning.user, *reading.element));
}

int perform(const Call& call, const Reading& reading, direct::Collectives& direct) {
  if (call.operation == Operation::barrier) return code_of(direct.barrier());
  return code_of(reading.element != nullptr ? reduce(call, reading, direct) : move_directly(reading, direct));
}

// perform() of a call whose buffers may lie in device memory.
[[gnu::noinline]] int perform_staged(const Call& call, Reading& reading, Communicator& comm) {
  CallRequest made;
  Request& request = *made;
  request.communicator = &comm;
  comm.retain();
  Call staged = call;
  int code = stage_call(staged, reading, request);
  if (code == MPI_SUCCESS && request.staging != nullptr) code = fetch(request);
  if (code != MPI_SUCCESS) {
    comm.direct_collectives()->fail();
    return code;
  }
  code = perform(staged, reading, *comm.direct_collectives());
  const int settled = request.staging != nullptr ? settle(request) : MPI_SUCCESS;
  return code != MPI_SUCCESS ? code : settled;
}

int perform(const Call& call, Reading& reading, Communicator& comm) {
  try {
    return have_devices() ? perform_staged(call, reading, comm) : perform(call, reading, *comm.direct_collectives());
  } catch (const std::bad_alloc&) {
    comm.direct_collectives()->fail();
    return MPI_ERR_NO_MEM;
  }
}

// Whether MPI_IN_PLACE stands where it may not.
bool misplaced(const Call& call, const Reading& reading, const direct::Collectives& direct) {
  const bool scatters = call.operation == Operation::scatter || call.operation == Operation::scatterv;
  const bool rooted = scatters || call.operation == Operation::gather || call.operation == Operation::gatherv ||
                      call.operation == Operation::reduce;
  if (rooted && direct.rank() != reading.key.root) return reading.key.in_place;  // the other side has no meaning
  return (scatters ? call.send : call.recv).address == MPI_IN_PLACE;
}

bool read(const Call& call, Communicator& comm, Reading& reading) {
  try {
    return read_call(call, comm, reading) && suits_direct(call, reading, *comm.direct_collectives());
  } catch (const std::bad_alloc&) {
    return false;
  }
}

int perform_observed(observe::Observer& observer, const Call& call, Reading& reading, Communicator& comm) {
  const std::uint64_t begin = call_begin();
  const int code = perform(call, reading, comm);
  observe::ObservedInstance observed;
  observed.started(begin);  // all of the call is waiting: it has no start and no gap
  observed.returned(begin, profiled);
  observed.at(call_site(observer, call, reading.key.bytes, "poll", kDirect, "the ranks share a space"));
  observed.finished(begin, call_end(), profiled, {}, {comm.world.front(), -1, 0, 0});
  return code;
}

// The straight way of calls whose arguments need no more than a look. False: nothing was done.
[[gnu::always_inline]] inline bool performed_at_once(const Call& call, direct::Collectives& direct, Outcome& outcome) {
  if (call.operation == Operation::barrier) {
    outcome = direct.barrier();
    return true;
  }
  const bool root_matters = call.operation == Operation::bcast || call.operation == Operation::reduce;
  if (!root_matters && call.operation != Operation::allreduce) return false;
  const Datatype* const type = datatype(call.recv.type);
  const auto root = static_cast<std::uint32_t>(call.root);
  if (type == nullptr || !type->contiguous || call.recv.count < 0 || root >= direct.ranks()) return false;
  const std::uint64_t bytes = static_cast<std::uint64_t>(call.recv.count) * type->size;
  std::byte* const to = writable(call.recv.address);
  if (call.recv.address == MPI_IN_PLACE) return false;
  if (call.operation == Operation::bcast) {
    const Bytes own(to, bytes);
    const auto receive = [&](std::uint32_t /*rank*/, const std::byte* from, std::uint64_t come) {
      if (come != 0) std::memcpy(to, from, come);
    };
    const auto whole = [bytes](std::uint32_t /*rank*/) { return direct::Range{0, bytes, bytes}; };
    outcome = direct.rank() == root ? direct.move(&own, 0, 0, whole, receive)
                                    : direct.move(nullptr, root, root + 1, whole, receive);
    return true;
  }
  const reduce::Reducer* const reducer = meaning_of(call.op, *type).builtin;
  if (reducer == nullptr || type->size == 0 || type->size > direct::Collectives::kElement) return false;
  const bool in_place = call.send.address == MPI_IN_PLACE;
  if (in_place && call.operation == Operation::reduce && direct.rank() != root) return false;
  const std::byte* const from = in_place ? to : static_cast<const std::byte*>(call.send.address);
  outcome = call.operation == Operation::allreduce ? direct.allreduce(from, to, bytes, *reducer)
                                                   : direct.reduce(from, to, bytes, *reducer, root);
  return true;
}

}  // namespace

bool suits_direct(const Call& call, const Reading& reading, const direct::Collectives& direct) {
  if (misplaced(call, reading, direct)) return false;
  return reading.element == nullptr ||
         (reading.element->contiguous && reading.element->size <= direct::Collectives::kElement);
}

bool may_be_direct(const Call& call) {
  return endpoint() != nullptr && call.operation != Operation::neighbor_alltoallv;
}

bool performed_directly(const Call& call, int* code) {
  Communicator* const comm = communicator(call.comm);
  if (comm == nullptr || comm->direct_collectives() == nullptr || comm->direct_collectives()->revoked()) return false;
  observe::Observer* const observer = process_state.observer;
  Outcome outcome = Outcome::good;
  if (observer == nullptr && !have_devices() && performed_at_once(call, *comm->direct_collectives(), outcome)) {
    *code = outcome == Outcome::good ? MPI_SUCCESS : complain(comm, code_of(outcome));
    return true;
  }
  Reading reading;
  if (!read(call, *comm, reading)) {
    // So that this rank has as many operations as the others, if only its arguments are erroneous.
    comm->direct_collectives()->fail();
    return false;
  }
  *code = observer == nullptr ? perform(call, reading, *comm) : perform_observed(*observer, call, reading, *comm);
  if (*code != MPI_SUCCESS) complain(comm, *code);
  return true;
}

}  // namespace urakata::shim
