// SPDX-License-Identifier: BSD-3-Clause
#include "shim/collectives/direct_calls.hpp"

#include <cstring>
#include <new>
#include <span>
#include <vector>

#include "direct/member.hpp"
#include "observe/observer.hpp"
#include "shim/collectives/call_reading.hpp"
#include "shim/collectives/call_request.hpp"
#include "shim/collectives/call_staging.hpp"
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

// Payloads that must be packed, or copied aside. Kept per thread, so that a call allocates nothing once it has been as
// large.
thread_local std::vector<std::byte> packed_payload;

// Blocks [first, first + count) of a side without holes.
Bytes plain(const Side& side, std::uint64_t first, std::uint64_t count) {
  const Block& block = side.blocks.front();
  const std::uint64_t bytes = block.elements * block.type->size;
  return {static_cast<const std::byte*>(side.address) + first * bytes, count * bytes};
}

// The payload of these blocks, where it lies, or packed. May throw std::bad_alloc.
Bytes payload_of(const Side& side, std::uint64_t first, std::uint64_t count, bool aside = false) {
  if (!side.holes) {
    const Bytes bytes = plain(side, first, count);
    if (!aside) return bytes;
    packed_payload.assign(bytes.begin(), bytes.end());
    return packed_payload;
  }
  std::uint64_t bytes = 0;
  for (const Block& block : side.blocks.subspan(first, count)) bytes += block.elements * block.type->size;
  packed_payload.resize(bytes);
  std::byte* at = packed_payload.data();
  for (const Block& block : side.blocks.subspan(first, count)) {
    block.type->pack(static_cast<const std::byte*>(side.address) + block.displacement, 0, block.elements, at);
    at += block.elements * block.type->size;
  }
  return packed_payload;
}

// Puts what has come for a block in its place: the first `bytes` bytes of its payload.
void take(const Side& side, std::uint64_t index, const std::byte* from, std::uint64_t bytes) {
  if (bytes == 0) return;
  if (!side.holes) {
    std::memcpy(const_cast<std::byte*>(plain(side, index, 1).data()), from, bytes);
  } else {
    const Block& block = side.blocks[index];
    block.type->unpack(from, writable(side.address) + block.displacement, 0, bytes / block.type->size);
  }
}

// The calls that only move.

int bcast(const Reading& reading, direct::Member& member) {
  const std::uint32_t root = reading.key.root;
  const Side& side = reading.recv;
  const auto receive = [&](std::uint32_t /*rank*/, const std::byte* from, std::uint64_t bytes) {
    take(side, 0, from, bytes);
  };
  if (member.rank() != root) {
    return code_of(member.move(nullptr, root, root + 1, {0, side.bytes, side.bytes}, receive));
  }
  const Bytes own = payload_of(side, 0, 1);
  return code_of(member.move(&own, 0, 0, {}, receive));
}

int gather(const Reading& reading, direct::Member& member) {
  if (member.rank() != reading.key.root) {
    const Bytes own = payload_of(reading.send, 0, 1);
    return code_of(member.move(&own, 0, 0, {}, [](std::uint32_t, const std::byte*, std::uint64_t) {}));
  }
  const Side& side = reading.recv;
  const std::uint64_t bytes = side.bytes / member.ranks();
  const auto receive = [&](std::uint32_t rank, const std::byte* from, std::uint64_t come) {
    take(side, rank, from, come);
  };
  if (!reading.key.in_place) take(side, member.rank(), payload_of(reading.send, 0, 1).data(), bytes);
  return code_of(member.move(nullptr, 0, member.ranks(), {0, bytes, bytes}, receive));
}

int scatter(const Reading& reading, direct::Member& member) {
  const std::uint32_t root = reading.key.root;
  const auto receive = [&](std::uint32_t /*rank*/, const std::byte* from, std::uint64_t bytes) {
    take(reading.recv, 0, from, bytes);
  };
  if (member.rank() != root) {
    const std::uint64_t bytes = reading.recv.bytes;
    return code_of(
        member.move(nullptr, root, root + 1, {member.rank() * bytes, bytes, member.ranks() * bytes}, receive));
  }
  const Bytes own = payload_of(reading.send, 0, member.ranks());
  const std::uint64_t bytes = own.size() / member.ranks();
  if (!reading.key.in_place) take(reading.recv, 0, own.data() + root * bytes, bytes);
  return code_of(member.move(&own, 0, 0, {}, receive));
}

int allgather(const Reading& reading, direct::Member& member) {
  const Side& side = reading.recv;
  const std::uint64_t bytes = side.bytes / member.ranks();
  const Bytes own = reading.key.in_place ? payload_of(side, member.rank(), 1) : payload_of(reading.send, 0, 1);
  if (!reading.key.in_place) take(side, member.rank(), own.data(), own.size());
  return code_of(member.move(
      &own, 0, member.ranks(), {0, bytes, bytes},
      [&](std::uint32_t rank, const std::byte* from, std::uint64_t come) { take(side, rank, from, come); }));
}

int alltoall(const Reading& reading, direct::Member& member) {
  const Side& side = reading.recv;
  const std::uint64_t bytes = side.bytes / member.ranks();
  const bool aside =
      reading.key.in_place && !direct::Member::is_short(side.bytes);  // it is overwritten while others read
  const Bytes own = payload_of(reading.key.in_place ? side : reading.send, 0, member.ranks(), aside);
  if (!reading.key.in_place) take(side, member.rank(), own.data() + member.rank() * bytes, bytes);
  return code_of(member.move(
      &own, 0, member.ranks(), {member.rank() * bytes, bytes, own.size()},
      [&](std::uint32_t rank, const std::byte* from, std::uint64_t come) { take(side, rank, from, come); }));
}

// Those that reduce.

int reduce(const Call& call, const Reading& reading, direct::Member& member, const reduce::Reducer& reducer) {
  const Key& key = reading.key;
  auto* const out = static_cast<std::byte*>(writable(call.recv.address));
  const auto* const in = key.in_place ? out : static_cast<const std::byte*>(call.send.address);
  if (key.operation == Operation::allreduce) return code_of(member.allreduce(in, out, key.bytes, reducer));
  if (key.operation == Operation::reduce_scatter_block) {
    if (!key.in_place) return code_of(member.reduce_scatter_block(in, out, key.bytes, reducer));
    packed_payload.assign(in, in + member.ranks() * key.bytes);  // others read it while the result is written
    return code_of(member.reduce_scatter_block(packed_payload.data(), out, key.bytes, reducer));
  }
  return code_of(member.reduce(in, out, key.bytes, reducer, key.root));
}

int reduce(const Call& call, const Reading& reading, direct::Member& member) {
  if (reading.meaning.user == nullptr) return reduce(call, reading, member, *reading.meaning.builtin);
  return reduce(call, reading, member, UserReducer(*reading.meaning.user, *reading.element));
}

int perform(const Call& call, const Reading& reading, direct::Member& member) {
  switch (call.operation) {
    case Operation::barrier:
      return code_of(member.barrier());
    case Operation::bcast:
      return bcast(reading, member);
    case Operation::gather:
      return gather(reading, member);
    case Operation::scatter:
      return scatter(reading, member);
    case Operation::allgather:
      return allgather(reading, member);
    case Operation::alltoall:
      return alltoall(reading, member);
    default:
      return reduce(call, reading, member);
  }
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
    comm.member()->fail();
    return code;
  }
  code = perform(staged, reading, *comm.member());
  const int settled = request.staging != nullptr ? settle(request) : MPI_SUCCESS;
  return code != MPI_SUCCESS ? code : settled;
}

int perform(const Call& call, Reading& reading, Communicator& comm) {
  try {
    return have_devices() ? perform_staged(call, reading, comm) : perform(call, reading, *comm.member());
  } catch (const std::bad_alloc&) {
    comm.member()->fail();
    return MPI_ERR_NO_MEM;
  }
}

// Whether MPI_IN_PLACE stands where it may not.
bool misplaced(const Call& call, const Reading& reading, const direct::Member& member) {
  const bool rooted = call.operation == Operation::gather || call.operation == Operation::scatter ||
                      call.operation == Operation::reduce;
  if (rooted && member.rank() != reading.key.root) return reading.key.in_place;  // the other side has no meaning
  return (call.operation == Operation::scatter ? call.send : call.recv).address == MPI_IN_PLACE;
}

// Whether the members can perform what has been read. The same on all ranks, if no argument is erroneous.
bool suits(const Call& call, const Reading& reading, const direct::Member& member) {
  if (misplaced(call, reading, member)) return false;
  return reading.element == nullptr ||
         (reading.element->contiguous && reading.element->size <= direct::Member::kElement);
}

bool read(const Call& call, Communicator& comm, Reading& reading) {
  try {
    return read_call(call, comm, reading) && suits(call, reading, *comm.member());
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
[[gnu::always_inline]] inline bool performed_at_once(const Call& call, direct::Member& member, Outcome& outcome) {
  if (call.operation == Operation::barrier) {
    outcome = member.barrier();
    return true;
  }
  const bool root_matters = call.operation == Operation::bcast || call.operation == Operation::reduce;
  if (!root_matters && call.operation != Operation::allreduce) return false;
  const Datatype* const type = datatype(call.recv.type);
  const auto root = static_cast<std::uint32_t>(call.root);
  if (type == nullptr || !type->contiguous || call.recv.count < 0 || root >= member.ranks()) return false;
  const std::uint64_t bytes = static_cast<std::uint64_t>(call.recv.count) * type->size;
  std::byte* const to = writable(call.recv.address);
  if (call.recv.address == MPI_IN_PLACE) return false;
  if (call.operation == Operation::bcast) {
    const Bytes own(to, bytes);
    const auto receive = [&](std::uint32_t /*rank*/, const std::byte* from, std::uint64_t come) {
      if (come != 0) std::memcpy(to, from, come);
    };
    outcome = member.rank() == root ? member.move(&own, 0, 0, {}, receive)
                                    : member.move(nullptr, root, root + 1, {0, bytes, bytes}, receive);
    return true;
  }
  const reduce::Reducer* const reducer = meaning_of(call.op, *type).builtin;
  if (reducer == nullptr || type->size == 0 || type->size > direct::Member::kElement) return false;
  const bool in_place = call.send.address == MPI_IN_PLACE;
  if (in_place && call.operation == Operation::reduce && member.rank() != root) return false;
  const std::byte* const from = in_place ? to : static_cast<const std::byte*>(call.send.address);
  outcome = call.operation == Operation::allreduce ? member.allreduce(from, to, bytes, *reducer)
                                                   : member.reduce(from, to, bytes, *reducer, root);
  return true;
}

}  // namespace

bool may_be_direct(const Call& call) {
  if (endpoint() == nullptr) return false;
  switch (call.operation) {
    case Operation::barrier:
    case Operation::bcast:
    case Operation::gather:
    case Operation::scatter:
    case Operation::allgather:
    case Operation::alltoall:
    case Operation::reduce:
    case Operation::allreduce:
    case Operation::reduce_scatter_block:
      return true;
    default:
      return false;
  }
}

bool performed_directly(const Call& call, int* code) {
  Communicator* const comm = communicator(call.comm);
  if (comm == nullptr || comm->member() == nullptr) return false;
  observe::Observer* const observer = process_state.observer;
  Outcome outcome = Outcome::good;
  if (observer == nullptr && !have_devices() && performed_at_once(call, *comm->member(), outcome)) {
    *code = outcome == Outcome::good ? MPI_SUCCESS : complain(comm, code_of(outcome));
    return true;
  }
  Reading reading;
  if (!read(call, *comm, reading)) {
    // So that this rank has as many operations as the others, if only its arguments are erroneous.
    comm->member()->fail();
    return false;
  }
  *code = observer == nullptr ? perform(call, reading, *comm) : perform_observed(*observer, call, reading, *comm);
  if (*code != MPI_SUCCESS) complain(comm, *code);
  return true;
}

}  // namespace urakata::shim
