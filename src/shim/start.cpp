#include "shim/start.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "shim/host.hpp"
#include "shim/host_messages.hpp"
#include "shim/process.hpp"

namespace urakata::shim {

namespace {

using collectives::Arguments;
using collectives::Operation;
using schedule::kRecvSlot;
using schedule::kSendSlot;

constexpr bool is_reduction(Operation operation) {
  return operation >= Operation::reduce && operation != Operation::count_;
}
static_assert(Operation::exscan > Operation::reduce && Operation::alltoallv < Operation::reduce);

// One side's buffer as blocks: one per rank for v-forms, all alike otherwise.
struct Block {
  const Datatype* type = nullptr;
  std::uint64_t elements = 0;
  std::int64_t displacement = 0;  // memory bytes from the buffer's address
};

struct Side {
  const void* address = nullptr;
  std::span<const Block> blocks;
  bool holes = false;
  std::uint64_t bytes = 0;  // payload of all blocks
};

// Kept per thread, so that describing a call allocates nothing once it has been as large.
struct Scratch {
  std::vector<Block> send, recv;
  std::vector<std::uint64_t> words;  // the key's blocks: send bytes, send displacements, recv bytes, recv displacements
};
thread_local Scratch scratch;

// How many blocks a side of the operation has on this rank; 0: the side is not significant here.
struct Parts {
  std::uint32_t send = 0;
  std::uint32_t recv = 0;
};
Parts parts_of(Operation operation, std::uint32_t ranks, bool at_root) {
  switch (operation) {
    case Operation::barrier:
      return {0, 0};
    case Operation::bcast:
      return {0, 1};
    case Operation::gather:
    case Operation::gatherv:
      return {1, at_root ? ranks : 0};
    case Operation::scatter:
    case Operation::scatterv:
      return {at_root ? ranks : 0, 1};
    case Operation::allgather:
    case Operation::allgatherv:
      return {1, ranks};
    case Operation::alltoall:
    case Operation::alltoallv:
      return {ranks, ranks};
    case Operation::reduce:
      return {1, at_root ? 1U : 0U};
    case Operation::reduce_scatter:
    case Operation::reduce_scatter_block:
      return {ranks, 1};
    default:
      return {1, 1};
  }
}

// False where the host must be the one to complain.
bool describe(const Buffer& buffer, std::uint32_t parts, std::vector<Block>& blocks, Side& side) {
  blocks.clear();
  side.address = buffer.address;
  if (parts == 0) return true;
  const Datatype* type = buffer.types == nullptr ? datatype(buffer.type) : nullptr;
  if (type == nullptr && buffer.types == nullptr) return false;
  if (buffer.counts.data == nullptr) {
    if (buffer.count < 0) return false;
    const auto elements = static_cast<std::uint64_t>(buffer.count);
    for (std::uint32_t p = 0; p < parts; ++p) {
      blocks.push_back({type, elements, static_cast<std::int64_t>(p * elements * type->extent)});
    }
  } else {
    for (std::uint32_t p = 0; p < parts; ++p) {
      const std::int64_t count = buffer.counts[p];
      const Datatype* of = buffer.types != nullptr ? datatype(buffer.types[p]) : type;
      if (count < 0 || of == nullptr) return false;
      const std::int64_t step = buffer.types != nullptr ? 1 : static_cast<std::int64_t>(of->extent);
      const std::int64_t displacement = buffer.displacements.data != nullptr ? buffer.displacements[p] * step : 0;
      blocks.push_back({of, static_cast<std::uint64_t>(count), displacement});
    }
  }
  for (const Block& block : blocks) {
    side.bytes += block.elements * block.type->size;
    side.holes = side.holes || (!block.type->contiguous && block.elements != 0);
  }
  side.blocks = blocks;
  return true;
}

void hold(Request& request, const Datatype* type) {
  if (type->predefined()) return;
  type->hold();
  request.types.push_back(type);
}

std::byte* writable(const void* address) { return static_cast<std::byte*>(const_cast<void*>(address)); }

// Types with holes travel packed: the schedule sees bytes without gaps, and moves before and after it do the rest.
// in: what the buffer holds is input; out: the schedule's result goes back to it.
std::byte* pack_around(Side& side, Run& run, Request& request, std::vector<std::byte>& packed, bool in, bool out,
                       std::uint32_t own_only) {
  if (packed.size() < side.bytes) {
    count_allocation();
    packed.resize(side.bytes);
  }
  std::byte* at = packed.data();
  for (std::uint32_t p = 0; p < side.blocks.size(); ++p) {
    const Block& block = side.blocks[p];
    const engine::Move move{block.type, writable(side.address) + block.displacement, block.elements, at};
    if (block.elements != 0) {
      hold(request, block.type);
      if (in && (own_only == ~0U || own_only == p)) run.packs.push_back(move);
      if (out) run.unpacks.push_back(move);
    }
    at += block.elements * block.type->size;
  }
  return packed.data();
}

void note_end(engine::Instance& instance) { static_cast<Request*>(instance.user)->passage.done(now_ns()); }

// --- measuring, for nbc-start-own-us ---
struct Samples {
  std::array<std::uint32_t, 1 << 16> ns{};
  std::atomic<std::uint64_t> count{0};
};
Samples& samples() {
  static auto* made = new Samples;
  return *made;
}

class StartMeter {
 public:
  StartMeter() : on_(process().measuring()), host_(on_ ? host_ticks() : 0), begin_(on_ ? now_ns() : 0) {}
  ~StartMeter() {
    if (!on_) return;
    const std::uint64_t spent = now_ns() - begin_ - (host_ticks() - host_);
    Samples& all = samples();
    all.ns[all.count.fetch_add(1, std::memory_order_relaxed) % all.ns.size()] = static_cast<std::uint32_t>(spent);
  }
  StartMeter(const StartMeter&) = delete;
  StartMeter& operator=(const StartMeter&) = delete;

 private:
  bool on_;
  std::uint64_t host_;
  std::uint64_t begin_;
};

// The key's blocks of a v-form: payload and place of each, as the schedule will see them.
void add_blocks(const Side& side, std::vector<std::uint64_t>& words) {
  for (const Block& block : side.blocks) words.push_back(block.elements * block.type->size);
  std::uint64_t packed = 0;
  for (const Block& block : side.blocks) {
    words.push_back(side.holes ? packed : static_cast<std::uint64_t>(block.displacement));
    packed += block.elements * block.type->size;
  }
}

collectives::Blocks take_blocks(std::span<const std::uint64_t>& words, std::size_t parts) {
  const auto bytes = words.first(parts);
  const auto places = words.subspan(parts, parts);
  words = words.subspan(2 * parts);
  return {bytes, {reinterpret_cast<const std::int64_t*>(places.data()), parts}};
}

void give_back(engine::Instance& instance) { destroy_request(static_cast<Request*>(instance.user)); }

}  // namespace

Request& make_request(Prepared& prepared, Communicator& comm) {
  Request& request = *make_request();
  Run& run = *prepared.take();
  request.run = &run;
  request.communicator = &comm;
  run.group = &comm;
  run.user = &request;
  run.on_abandoned = give_back;
  run.on_finish = process().observer() != nullptr ? note_end : nullptr;
  run.packs.clear();
  run.unpacks.clear();
  run.layout = nullptr;
  run.reducer = nullptr;
  return request;
}

bool carried(const Call& call, MPI_Request* request_out, int* code) {
  Process& here = process();
  if (!here.running() || here.host_only() || inside_host(call.site)) return false;
  if (request_out == nullptr) return false;
  Communicator* communicator_of = nullptr;
  const StartMeter meter;
  const std::uint64_t begin = here.observer() != nullptr ? now_ns() : 0;

  // Everything that the host would refuse goes to it before the communicator is touched.
  communicator_of = communicator(call.comm);
  if (communicator_of == nullptr) return false;
  Communicator& comm = *communicator_of;
  const std::uint32_t ranks = comm.ranks;
  if (call.root < 0 || static_cast<std::uint32_t>(call.root) >= ranks) return false;
  const auto root = static_cast<std::uint32_t>(call.root);
  const bool at_root = comm.rank == root;
  const Operation operation = call.operation;

  // In place: the argument that is MPI_IN_PLACE says so (recvbuf for scatter's root, sendbuf everywhere else).
  const bool scatters = operation == Operation::scatter || operation == Operation::scatterv;
  const bool in_place = scatters ? call.recv.address == MPI_IN_PLACE : call.send.address == MPI_IN_PLACE;
  Parts parts = parts_of(operation, ranks, at_root);
  if (in_place) (scatters ? parts.recv : parts.send) = 0;

  Side send;
  Side recv;
  const bool reduces = is_reduction(operation);
  Meaning meaning;
  const Datatype* element = nullptr;
  Key key;
  key.operation = operation;
  key.in_place = in_place;
  key.root = root;
  scratch.words.clear();

  if (reduces) {
    element = datatype(call.recv.type);
    if (element == nullptr) return false;
    meaning = meaning_of(call.op, *element);
    if (meaning.builtin == nullptr && meaning.user == nullptr) return false;
    if (element->size == 0) return false;
    key.element = element->size;
    key.extent = element->contiguous ? element->size : element->extent;
    key.commutative = meaning.user == nullptr || meaning.user->commutative();
    if (operation == Operation::reduce_scatter) {
      for (std::uint32_t p = 0; p < ranks; ++p) {
        if (call.recv.counts[p] < 0) return false;
        scratch.words.push_back(static_cast<std::uint64_t>(call.recv.counts[p]) * element->size);
        key.bytes += scratch.words.back();
      }
      key.bytes /= ranks;  // the mean block, by which the algorithm is chosen
    } else {
      if (call.recv.count < 0) return false;
      key.bytes = static_cast<std::uint64_t>(call.recv.count) * element->size;
    }
  } else if (operation != Operation::barrier) {
    if (!describe(call.send, parts.send, scratch.send, send) || !describe(call.recv, parts.recv, scratch.recv, recv)) {
      return false;
    }
    const Side& fixed = operation == Operation::scatter && (at_root || parts.recv == 0) ? send
                        : operation == Operation::gather && !at_root                    ? send
                        : parts.recv != 0                                               ? recv
                                                                                        : send;
    const bool vector_form = operation == Operation::gatherv || operation == Operation::scatterv ||
                             operation == Operation::allgatherv || operation == Operation::alltoallv;
    if (!vector_form) {
      key.bytes = fixed.blocks.empty() ? 0 : fixed.blocks[0].elements * fixed.blocks[0].type->size;
    } else {
      // gatherv, scatterv: what this rank contributes or gets is in `bytes`, the root has all in the blocks.
      const Side& own = operation == Operation::gatherv ? send : recv;
      const bool whole_group = operation == Operation::allgatherv || operation == Operation::alltoallv;
      if (!whole_group && !own.blocks.empty()) key.bytes = own.bytes;
      // Algorithms are chosen by what all ranks know: the mean block.
      if (operation == Operation::allgatherv) key.bytes = recv.bytes / ranks;
      if (operation == Operation::alltoallv) {
        if (in_place) {
          add_blocks(recv, scratch.words);
        } else {
          add_blocks(send, scratch.words);
        }
      }
      if (operation == Operation::scatterv) {
        if (at_root) add_blocks(send, scratch.words);
      } else if (operation != Operation::gatherv || at_root) {
        add_blocks(recv, scratch.words);
      }
    }
  }

  Arguments arguments;
  arguments.ranks = ranks;
  arguments.rank = comm.rank;
  arguments.root = root;
  arguments.in_place = in_place;
  arguments.bytes = key.bytes;
  arguments.element = key.element;
  arguments.extent = key.extent;
  arguments.commutative = key.commutative;
  std::span<const std::uint64_t> words = scratch.words;
  if (operation == Operation::alltoallv || (operation == Operation::scatterv && at_root)) {
    arguments.send = take_blocks(words, ranks);
  }
  if (operation == Operation::alltoallv || operation == Operation::allgatherv ||
      (operation == Operation::gatherv && at_root)) {
    arguments.recv = take_blocks(words, ranks);
  } else if (operation == Operation::reduce_scatter) {
    arguments.recv.bytes = words;
  }

  Prepared* prepared = comm.prepared(key, scratch.words, arguments);
  if (prepared == nullptr) return false;

  if (!call.persistent) comm.hold();
  Request& request = make_request(*prepared, call.persistent ? *comm.sibling() : comm);
  request.persistent = call.persistent;
  Run& run = *request.run;
  std::int64_t shift = 0;
  if (reduces) {
    run.bind(kSendSlot, writable(call.send.address));
    run.bind(kRecvSlot, writable(call.recv.address));
    if (meaning.user != nullptr) {
      meaning.user->hold();
      hold(request, element);
      run.reducer = &request.reducer.emplace(*meaning.user, *element);
    } else {
      run.reducer = meaning.builtin;
    }
    if (!element->contiguous) {
      run.layout = element;
      shift = element->true_lb;
    }
  } else {
    // All of recvbuf is output. It is input too for bcast's root and where the operation is in place: the own block
    // only for gathers, everything for alltoall.
    const bool all_blocks = operation == Operation::alltoall || operation == Operation::alltoallv;
    const bool recv_in = operation == Operation::bcast ? at_root : in_place && !scatters;
    const bool recv_out = operation != Operation::bcast || !at_root;
    const std::uint32_t own = operation == Operation::bcast || all_blocks ? ~0U : comm.rank;
    run.bind(kSendSlot,
             send.holes ? pack_around(send, run, request, run.packed_send, true, false, ~0U) : writable(send.address));
    run.bind(kRecvSlot, recv.holes ? pack_around(recv, run, request, run.packed_recv, recv_in, recv_out, own)
                                   : writable(recv.address));
  }
  run.bind_temps(shift);

  if (observe::Observer* observer = here.observer()) {
    const observe::SiteKey site{call.name, call.site, key.bytes, comm.engine->name(), prepared->algorithm};
    request.site = observer->site(site, prepared->why);
  }
  *request_out = request.handle();
  *code = call.persistent ? MPI_SUCCESS : submit(request, begin);
  return true;
}

int submit(Request& request, std::uint64_t begin) {
  Run& run = *request.run;
  run.sequence = request.communicator->next_sequence.fetch_add(1, std::memory_order_relaxed);
  run.outcome.store(engine::Instance::Outcome::running, std::memory_order_relaxed);
  request.active = true;
  if (request.site != nullptr) request.passage.started(request.site, begin);
  request.communicator->engine->start(run);
  if (request.site != nullptr) {
    const std::uint64_t end = now_ns();
    request.passage.returned(end);
    if (observe::Track* track = process().observer()->caller()) {
      track->add(observe::EventKind::start, begin, end, request.site->number());
    }
  }
  return MPI_SUCCESS;
}

int start_again(Request& request) { return submit(request, request.site != nullptr ? now_ns() : 0); }

int missing(MPI_Comm comm, const char* name) {
  log::error(
      "%s: this MPI library does not have it, and Urakata does not carry it for this communicator or these arguments; "
      "use the form that the library has",
      name);
  host.Comm_call_errhandler(comm, MPI_ERR_UNSUPPORTED_OPERATION);
  return MPI_ERR_UNSUPPORTED_OPERATION;
}

StartCost start_cost() {
  Samples& all = samples();
  const std::uint64_t count = all.count.exchange(0, std::memory_order_relaxed);
  const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(count, all.ns.size()));
  if (n == 0) return {};
  std::vector<std::uint32_t> sorted(all.ns.begin(), all.ns.begin() + static_cast<std::ptrdiff_t>(n));
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(n / 2), sorted.end());
  return {static_cast<double>(sorted[n / 2]), count};
}

}  // namespace urakata::shim
