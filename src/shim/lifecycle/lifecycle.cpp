// SPDX-License-Identifier: BSD-3-Clause
// MPI_Init to MPI_Finalize, and the calls that end the life of what operations refer to.
#include <unistd.h>

#include <atomic>

#include "base/log.hpp"
#include "base/options/options.hpp"
#include "base/preload_env.hpp"
#include "shim/communicators/communicator.hpp"
#include "shim/communicators/endpoint_comms.hpp"
#include "shim/kernel/channel_sets.hpp"
#include "shim/lifecycle/process.hpp"
#include "shim/messages/native_receive_calls.hpp"
#include "shim/native/entries.hpp"
#include "shim/process/process_state.hpp"
#include "shim/requests/open_requests.hpp"
#include "shim/types/datatype.hpp"
#include "shim/types/operation.hpp"
#include "space/settle.hpp"

namespace {

constinit std::atomic<bool> has_begun{false};  // MPI_Init, or MPI_Init_thread, was called
constinit pid_t loaded_in = 0;

// Programs that the rank starts (a shell, a tool) are no ranks, and must not preload Urakata. In a space, the rank's
// memory is kept apart from now on.
__attribute__((constructor)) void loaded() {
  urakata::forget_preload();
  urakata::space::settle();
  loaded_in = getpid();
}

// Warns if the program has never called MPI_Init, so that this is not taken for a failure of Urakata. A forked child
// says nothing.
__attribute__((destructor)) void ended() {
  if (has_begun.load(std::memory_order_relaxed) || loaded_in != getpid()) return;
  urakata::log::set_verbosity(urakata::options().verbose);
  urakata::log::warning_of_all("the program ended without a call of MPI_Init: Urakata had nothing to do");
}

using urakata::shim::native;
using urakata::shim::need_native;
using urakata::shim::process;
using urakata::shim::process_state;

void forget(MPI_Comm handle, const urakata::shim::EndpointComm::Freed& freed) {
  const urakata::shim::FreeingCommunicator freeing;
  urakata::shim::close_endpoint_comm(handle, freed);
  urakata::shim::forget_communicator(handle);
}

// To be called once all receives of a communicator are done. Waits for a thread that is in a poll which began before:
// such a poll may still ask the MPI library for a message on the communicator.
void await_polls_of_mixed() {
  using urakata::shim::mixed_queue;
  if (mixed_queue != nullptr) const urakata::messages::MixedQueue::Lock polled(*mixed_queue);
}

// The program's delete callbacks may still use the communicator, so what is ours goes behind the MPI library's call.
// Another thread may be given the same handle before that call returns, so during the call only this thread finds it.
int free_communicator(MPI_Comm* comm, bool disconnects) {
  MPI_Comm const handle = *comm;
  const urakata::shim::EndpointComm::Freed freed = urakata::shim::before_free(handle, disconnects);
  if (freed.kept) {
    urakata::shim::close_endpoint_comm(handle, freed);
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
  }
  urakata::shim::before_forget(handle);
  urakata::shim::withdraw_endpoint_comm(handle);
  urakata::shim::withdraw_communicator(handle);
  const int code = disconnects ? native.Comm_disconnect(comm) : native.Comm_free(comm);
  if (code == MPI_SUCCESS) {
    forget(handle, freed);
  } else {
    urakata::shim::restore_endpoint_comm(handle);
    urakata::shim::restore_communicator(handle);
    urakata::shim::forget_error_handler(freed.handler);
  }
  return code;
}

}  // namespace

extern "C" {

URAKATA_EXPORT int MPI_Init(int* argc, char*** argv) {
  has_begun.store(true, std::memory_order_relaxed);
  need_native();
  return process().initialise(argc, argv, MPI_THREAD_SINGLE, nullptr);
}

URAKATA_EXPORT int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  has_begun.store(true, std::memory_order_relaxed);
  need_native();
  return process().initialise(argc, argv, required, provided);
}

URAKATA_EXPORT int MPI_Finalize() {
  need_native();
  return process().finalise();
}

URAKATA_EXPORT int MPI_Query_thread(int* provided) {
  need_native();
  if (!process_state.running || provided == nullptr) return native.Query_thread(provided);
  *provided = process_state.told_level;
  return MPI_SUCCESS;
}

URAKATA_EXPORT int MPI_Type_free(MPI_Datatype* datatype) {
  need_native();
  if (datatype == nullptr || !process_state.running || !urakata::shim::forget_datatype(*datatype)) {
    return native.Type_free(datatype);
  }
  *datatype = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

URAKATA_EXPORT int MPI_Op_free(MPI_Op* op) {
  need_native();
  if (op == nullptr || !process_state.running || !urakata::shim::forget_operation(*op)) return native.Op_free(op);
  *op = MPI_OP_NULL;
  return MPI_SUCCESS;
}

URAKATA_EXPORT int MPI_Comm_free(MPI_Comm* comm) {
  need_native();
  if (comm == nullptr || *comm == MPI_COMM_WORLD || !process_state.running) return native.Comm_free(comm);
  return free_communicator(comm, false);
}

// Unlike MPI_Comm_free this waits for all pending communication, so ours is brought to its end first.
URAKATA_EXPORT int MPI_Comm_disconnect(MPI_Comm* comm) {
  need_native();
  if (comm == nullptr || *comm == MPI_COMM_WORLD || !process_state.running) return native.Comm_disconnect(comm);
  urakata::shim::drain(*comm);
  urakata::shim::drain_endpoint_comm(*comm);
  await_polls_of_mixed();
  return free_communicator(comm, true);
}

// The info key `urakata_engine` chooses the engine of a communicator; the MPI library gets the other keys.
URAKATA_EXPORT int MPI_Comm_set_info(MPI_Comm comm, MPI_Info info) {
  need_native();
  if (process_state.running && !process_state.native_only) {  // also without the key: other ranks may have it
    char value[32] = {};
    int found = 0;
    if (info != MPI_INFO_NULL) native.Info_get(info, "urakata_engine", sizeof value - 1, value, &found);
    bool pending = false;
    const auto chosen = urakata::shim::choose_engine(comm, found != 0 ? value : "", &pending);
    if (!chosen.ok()) urakata::log::warning("info key urakata_engine: %s", chosen.error().message.c_str());
  }
  if (process_state.running) urakata::shim::note_assertions(comm, info);
  return native.Comm_set_info(comm, info);
}

int PMPI_Init(int*, char***) URAKATA_ALIAS(MPI_Init);
int PMPI_Init_thread(int*, char***, int, int*) URAKATA_ALIAS(MPI_Init_thread);
int PMPI_Finalize() URAKATA_ALIAS(MPI_Finalize);
int PMPI_Query_thread(int*) URAKATA_ALIAS(MPI_Query_thread);
int PMPI_Type_free(MPI_Datatype*) URAKATA_ALIAS(MPI_Type_free);
int PMPI_Op_free(MPI_Op*) URAKATA_ALIAS(MPI_Op_free);
int PMPI_Comm_free(MPI_Comm*) URAKATA_ALIAS(MPI_Comm_free);
int PMPI_Comm_disconnect(MPI_Comm*) URAKATA_ALIAS(MPI_Comm_disconnect);
int PMPI_Comm_set_info(MPI_Comm, MPI_Info) URAKATA_ALIAS(MPI_Comm_set_info);

}  // extern "C"
