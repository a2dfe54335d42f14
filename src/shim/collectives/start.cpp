// SPDX-License-Identifier: BSD-3-Clause
#include "shim/collectives/start.hpp"

#include <atomic>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/options/options.hpp"
#include "base/reserve.hpp"
#include "base/threads.hpp"
#include "observe/observer.hpp"
#include "schedule/builder.hpp"
#include "shim/collectives/call_binding.hpp"
#include "shim/collectives/call_reading.hpp"
#include "shim/collectives/call_staging.hpp"
#include "shim/collectives/channel_agreement.hpp"
#include "shim/collectives/channel_exchange.hpp"
#include "shim/collectives/direct_calls.hpp"
#include "shim/collectives/direct_exchange.hpp"
#include "shim/collectives/message_exchange.hpp"
#include "shim/collectives/native_messages.hpp"
#include "shim/collectives/prepare.hpp"
#include "shim/collectives/start_meter.hpp"
#include "shim/kernel/kernel_operations.hpp"
#include "shim/native/native_library.hpp"
#include "shim/native/without_memory.hpp"
#include "shim/process/devices.hpp"
#include "shim/process/process_state.hpp"
#include "shim/process/profiled.hpp"
#include "shim/process/space.hpp"
#include "shim/requests/staging.hpp"

namespace urakata::shim {

namespace {

void note_end(engine::Instance& instance) { static_cast<Request*>(instance.user)->observed.done(now_ns()); }

void give_back(engine::Instance& instance) { destroy_request(static_cast<Request*>(instance.user)); }

// Destroys the instance of end_on_all(), which has a Prepared of its own.
void discard(engine::Instance& instance) {
  auto& comm = *static_cast<Communicator*>(instance.user);
  const std::unique_ptr<Prepared> prepared(&static_cast<Run&>(instance).prepared);
  comm.release();
}

std::shared_ptr<const schedule::Schedule> schedule_of_nothing() {
  return std::make_shared<const schedule::Schedule>(std::move(*schedule::Builder("nothing", 1, 0, 0).commit()));
}

// Binds a call whose buffers may lie in device memory. The result is an MPI error code.
[[gnu::noinline]] int bind_images(const Call& call, Reading& reading, Request& request) {
  Call staged = call;
  const int code = stage_call(staged, reading, request);
  if (code == MPI_SUCCESS) bind_call(staged, reading, request);
  return code;
}

// fail_start() without the error handler.
void end_on_all(Communicator& comm, int code) {
  auto prepared = std::make_unique<Prepared>();
  prepared->schedule = schedule_of_nothing();
  Run& run = *prepared.release()->take();
  run.group = &comm;
  run.user = &comm;
  run.on_abandoned = discard;
  run.error = code;
  run.tells_all = true;
  run.sequence = fetch_add(comm.next_sequence, std::uint64_t{1}, std::memory_order_relaxed);
  run.outcome.store(engine::Instance::Outcome::abandoned, std::memory_order_relaxed);
  comm.engine->start(run);
}

}  // namespace

int fail_start(Communicator& comm, int code) {
  const ErrorTarget target = comm.error_target();
  end_on_all(comm, code);
  return target.tell(code);
}

int fail_unprepared(Communicator& comm, int code) {
  if (Communicator* const part = comm.by_kernel()) {
    part->retain();
    end_on_all(*part, code);
  }
  return fail_start(comm, code);
}

void give_run(Request& request, Prepared& prepared, Communicator& comm) {
  request.type = RequestType::collective;
  request.communicator = &comm;
  Run& run = *prepared.take();
  request.run = &run;
  run.group = &comm;
  run.user = &request;
  run.on_abandoned = give_back;
  run.on_finish = process_state.observer != nullptr ? note_end : nullptr;
  run.packs.clear();
  run.unpacks.clear();
  run.layout = nullptr;
  run.callers_only = false;
  run.reducer = nullptr;
  run.executor = nullptr;
}

namespace {

SmallCall small_call(const Reading& reading) {
  const Key& key = reading.key;
  return {key.operation, key.in_place, key.root, key.bytes, reading.element, reading.meaning};
}

// Gives the instance its executor, if the kernel executes its operation.
void hand_to_kernel(const Reading& reading, Communicator& comm, Run& run) {
  const engine::KernelPart* const part = comm.kernel_part();
  if (part == nullptr) return;
  if (const SmallCall call = small_call(reading); by_ebpf(call, *part)) {
    execute_by_ebpf(call, *part, run, run.kernel);
  } else {
    execute_by_chain(*part, *run.prepared.chained, run, run.kernel);
  }
}

}  // namespace

int bind(const Call& call, Reading& reading, Prepared& prepared, Communicator& comm, Request& request) {
  return or_no_memory([&] {
    give_run(request, prepared, comm);
    int code = MPI_SUCCESS;
    if (have_devices()) {
      code = bind_images(call, reading, request);
    } else {
      bind_call(call, reading, request);
    }
    if (code == MPI_SUCCESS) hand_to_kernel(reading, comm, *request.run);
    return code;
  });
}

namespace {

// Whether the call may get a persistent neighbourhood channel. The same on all ranks.
bool may_have_channels(const Call& call) {
  return call.form == CallForm::persistent && call.operation == collectives::Operation::neighbor_alltoallv &&
         ChannelExchange::any_in_job();
}

// Whether option NEIGHBORHOOD makes the call fall back. The same on all ranks.
bool left_by_option(const Call& call) {
  return call.operation == collectives::Operation::neighbor_alltoallv &&
         options().neighborhood == NeighborhoodWish::native;
}

// The result of handled() for a call that falls back on this rank: false. If the other ranks may agree on a channel in
// this call, they are told that this rank refuses.
bool left_to_native(const Call& call) {
  Communicator* const comm = may_have_channels(call) ? communicator(call.comm) : nullptr;
  if (comm != nullptr) refuse_channel(*comm);
  return false;
}

// Makes the request of a persistent neighbourhood collective whose ranks all have a neighbourhood channel. Returns
// false, on all ranks alike, if the collective must go another way. `group` is the collective's own communicator; the
// request takes over its reference.
bool prepare_exchange(const Call& call, const Reading& reading, std::unique_ptr<ChannelExchange> exchange,
                      Communicator& group, MPI_Request* request_out) {
  if (exchange == nullptr || !exchange->meet(call, reading, group)) return false;
  Request& request = *make_request();
  request.type = RequestType::exchange;
  request.communicator = &group;
  request.persistent = true;
  retain_types(reading, request);
  if (observe::Observer* observer = process_state.observer) {
    request.call_site =
        call_site(*observer, call, reading.key.bytes, "poll", ChannelExchange::kAlgorithm, exchange->why());
    exchange->observe(&request.observed);
  }
  request.exchange = std::move(exchange);
  *request_out = request.handle();
  return true;
}

}  // namespace

Communicator& part_by_kernel(const Reading& reading, const Prepared& prepared, Communicator& comm, Communicator& part) {
  if (prepared.chained != nullptr) return part;
  const SmallCall call = small_call(reading);
  if (by_ebpf(call, *part.kernel_part())) return part;
  tell_of_missing_op(call, *part.kernel_part(), comm.rank == 0);
  return comm;
}

Communicator* accept(const Call& call, Reading& reading, Prepared*& prepared) {
  // Everything that the MPI library would refuse goes to it before the communicator is touched.
  Communicator* const comm = communicator(call.comm);
  if (comm == nullptr || !reserve::enough()) return comm;
  try {
    if (!read_call(call, *comm, reading)) return nullptr;
    prepared = comm->cached(reading.key, reading.blocks);
    if (prepared == nullptr) prepared = prepare(reading, *comm);
    return prepared != nullptr ? comm : nullptr;
  } catch (const std::bad_alloc&) {
    prepared = nullptr;
    return comm;
  }
}

observe::CallSite* call_site(observe::Observer& observer, const Call& call, std::uint64_t bytes,
                             std::string_view engine, std::string_view algorithm, std::string_view why) {
  const observe::PythonLine* const line = observe::python_line(call.call_site);
  return observer.call_site({call.name, call.call_site, bytes, engine, algorithm, line}, why);
}

observe::CallSite* call_site(observe::Observer& observer, const Call& call, const Reading& reading,
                             const Prepared& prepared, const Communicator& comm) {
  const engine::KernelPart* const part = comm.kernel_part();
  const bool ebpf = part != nullptr && by_ebpf(small_call(reading), *part);
  return call_site(observer, call, reading.key.bytes, comm.engine->name(), ebpf ? kEbpf : prepared.algorithm,
                   ebpf ? kWhyEbpf : prepared.why);
}

namespace {

// A new request with an instance of `prepared` on `part`, with the call's buffers bound; it takes over a reference to
// `part`. nullptr: there is none, the other ranks have been told, and `*code` is the call's result.
Request* bound_request(const Call& call, Reading& reading, Prepared& prepared, Communicator& part, int* code) {
  if (!have_request()) {
    *code = fail_start(part, MPI_ERR_NO_MEM);
    return nullptr;
  }
  Request& request = *make_request();
  *code = bind(call, reading, prepared, part, request);
  if (*code == MPI_SUCCESS) return &request;
  part.retain();
  destroy_request(&request);
  *code = fail_start(part, *code);
  return nullptr;
}

// handled() for non-blocking calls: starts the operation.
bool started(const Call& call, MPI_Request* request_out, int* code) {
  const StartMeter meter;
  if (may_be_message_exchange(call) && exchanged(call, request_out, code)) return true;
  if (may_be_direct(call) && started_directly(call, request_out, code)) return true;
  observe::Observer* const observer = process_state.observer;
  const std::uint64_t begin = observer != nullptr ? call_begin() : 0;
  Reading reading;
  Prepared* prepared = nullptr;
  Communicator* const comm = accept(call, reading, prepared);
  if (comm == nullptr) return false;
  if (prepared == nullptr) {
    comm->retain();
    *code = fail_unprepared(*comm, MPI_ERR_NO_MEM);
    return true;
  }
  Communicator& part = part_for(reading, *prepared, *comm);
  part.retain();
  Request* const request = bound_request(call, reading, *prepared, part, code);
  if (request == nullptr) return true;
  *code = submit(*request, begin);
  if (*code != MPI_SUCCESS) {
    destroy_request(request);
    *request_out = MPI_REQUEST_NULL;
    return true;
  }
  *request_out = request->handle();
  if (observer != nullptr) {
    // After the start, since python_line() may wait for another thread that waits for this operation.
    request->call_site = call_site(*observer, call, reading, *prepared, part);
    request->observed.at(request->call_site);
  }
  return true;
}

// handled() for persistent calls: makes the request.
[[gnu::noinline]] bool initialised(const Call& call, MPI_Request* request_out, int* code) {
  Reading reading;
  Prepared* prepared = nullptr;
  Communicator* const comm = accept(call, reading, prepared);
  if (comm == nullptr) return left_to_native(call);
  ChannelExchange::Proposal proposal;
  if (may_have_channels(call)) proposal = ChannelExchange::propose(prepared != nullptr ? &reading : nullptr, *comm);
  if (proposal.answer == ChannelAnswer::refused) return false;
  // On all ranks, also on one that could not prepare the collective: sibling() is collective.
  Communicator* const part = comm->sibling();
  if (part == nullptr) return false;
  *code = MPI_SUCCESS;
  if (prepare_exchange(call, reading, std::move(proposal.exchange), *part, request_out)) return true;
  if (prepared == nullptr) {
    *code = fail_start(*part, MPI_ERR_NO_MEM);
    return true;
  }
  Request* const request = bound_request(call, reading, *prepared, *part, code);
  if (request == nullptr) return true;
  request->persistent = true;
  *request_out = request->handle();
  if (observe::Observer* observer = process_state.observer) {
    request->call_site = call_site(*observer, call, reading, *prepared, *part);
  }
  return true;
}

}  // namespace

bool handled(const Call& call, MPI_Request* request_out, int* code) {
  if (!process_state.running || process_state.native_only || inside_native(call.call_site) || left_by_option(call))
    return false;
  if (request_out == nullptr) return left_to_native(call);
  return call.form == CallForm::persistent ? initialised(call, request_out, code) : started(call, request_out, code);
}

int make_ready(Request& request) {
  Run& run = *request.run;
  if (request.staging != nullptr) {
    if (const int code = fetch(request); code != MPI_SUCCESS) {
      request.communicator->retain();
      return fail_start(*request.communicator, code);
    }
  }
  run.sequence = fetch_add(request.communicator->next_sequence, std::uint64_t{1}, std::memory_order_relaxed);
  run.error = MPI_SUCCESS;
  if (const auto* const waits = program_waits.load(std::memory_order_relaxed)) run.progress.begin(*waits);
  run.outcome.store(engine::Instance::Outcome::running, std::memory_order_relaxed);
  request.active = true;
  return MPI_SUCCESS;
}

int submit(Request& request, std::uint64_t begin) {
  if (const int code = make_ready(request); code != MPI_SUCCESS) return code;
  Run& run = *request.run;
  if (begin != 0) request.observed.started(begin);
  request.communicator->engine->start(run);
  if (begin != 0) {
    request.observed.returned(call_end(), profiled);
    if (request.call_site != nullptr)
      request.observed.at(request.call_site);  // else the caller does it, when it has the call site
  }
  return MPI_SUCCESS;
}

int StartList::add(Request& request) {
  if (process_state.observer != nullptr && requests_.empty()) begin_ = now_ns();
  const int code = make_ready(request);
  if (code == MPI_SUCCESS) requests_.push_back(&request);
  return code;
}

void StartList::start() {
  while (!requests_.empty()) {
    engine::Engine* const engine = requests_.front()->communicator->engine;
    instances_.clear();
    std::erase_if(requests_, [&](const Request* request) {
      if (request->communicator->engine != engine) return false;
      instances_.push_back(request->run);
      return true;
    });
    const bool observed = process_state.observer != nullptr;
    if (observed) note_begin();
    engine->start_all(instances_);
    if (observed) note_returned();
  }
}

void StartList::note_begin() {
  for (const engine::Instance* instance : instances_) {
    static_cast<Request*>(instance->user)->observed.started(begin_);
  }
}

// Each start gets an equal share of the time that all took together. The requests still exist: only a wait or a test of
// the program ends them.
void StartList::note_returned() {
  const std::uint64_t end = now_ns();
  const std::uint64_t returned = begin_ + (end - begin_) / instances_.size();
  for (const engine::Instance* instance : instances_) {
    auto& request = *static_cast<Request*>(instance->user);
    request.observed.returned(returned, profiled);
    if (request.call_site != nullptr) request.observed.at(request.call_site);
  }
  begin_ = end;
}

int missing(MPI_Comm comm, const char* name) {
  log::error(
      "%s: this MPI library does not have it, and Urakata does not handle it for this communicator or these "
      "arguments; use the form that the library has",
      name);
  native.Comm_call_errhandler(comm, MPI_ERR_UNSUPPORTED_OPERATION);
  return MPI_ERR_UNSUPPORTED_OPERATION;
}

}  // namespace urakata::shim
