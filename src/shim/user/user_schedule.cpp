// SPDX-License-Identifier: BSD-3-Clause
// Schedules that programs build themselves: ura_begin to ura_free of urakata.h.
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/reserve.hpp"
#include "device/runtime.hpp"
#include "observe/observer.hpp"
#include "schedule/builder.hpp"
#include "shim/collectives/start.hpp"
#include "shim/communicators/communicator.hpp"
#include "shim/native/abi.hpp"
#include "shim/native/native_library.hpp"
#include "shim/native/without_memory.hpp"
#include "shim/process/devices.hpp"
#include "shim/process/process_state.hpp"
#include "shim/process/profiled.hpp"
#include "shim/types/datatype.hpp"
#include "shim/types/operation.hpp"
#include "shim/user/user_error.hpp"
#include "urakata.h"

using urakata::schedule::BufferId;
using urakata::schedule::Builder;
using urakata::schedule::kMaxBuffers;
using urakata::schedule::NodeId;
using urakata::schedule::Place;
namespace shim = urakata::shim;

struct ura_schedule {
  shim::Communicator* communicator = nullptr;  // retained
  shim::Communicator* own = nullptr;           // after commit: the same group with a context of its own; retained
  int buffers = 0;
  std::string name = "ura_start";  // in the report
  std::optional<Builder> builder;  // until commit
  const urakata::reduce::Reducer* reducer = nullptr;
  shim::Prepared prepared;
};

namespace {

constexpr const char* kDraft = "the schedule is committed already and cannot be changed; begin a new one";

bool draft(const ura_schedule* schedule) { return schedule != nullptr && schedule->builder.has_value(); }

Place place(int buffer, MPI_Aint offset) {
  // Builder::commit() refuses a buffer that does not exist, such as one below 0, and names the node.
  return {.buffer = static_cast<BufferId>(buffer), .offset = offset};
}

int give(NodeId made, int* node) {
  if (node != nullptr) *node = static_cast<int>(made);
  return MPI_SUCCESS;
}

bool bad_message(MPI_Count bytes, int channel) {
  return bytes < 0 || channel < 0 || channel >= static_cast<int>(urakata::schedule::kChannels);
}

}  // namespace

extern "C" {

int ura_begin(MPI_Comm comm, int buffers, ura_schedule** schedule) {
  if (schedule == nullptr || buffers < 0 || buffers > 0x7fff)
    return shim::user_error("ura_begin", MPI_ERR_ARG, "buffers must be 0 to 32767");
  shim::Communicator* of =
      shim::process_state.running && !shim::process_state.native_only ? shim::communicator(comm) : nullptr;
  if (of == nullptr) {
    return shim::user_error(
        "ura_begin", MPI_ERR_COMM,
        "schedules run on intracommunicators of at least two ranks of MPI_COMM_WORLD, between MPI_Init and "
        "MPI_Finalize, with engine poll, thread or kernel");
  }
  of->retain();
  auto* made = new ura_schedule;
  made->communicator = of;
  made->buffers = buffers;
  made->builder.emplace("user", of->ranks, of->rank, static_cast<BufferId>(buffers));
  *schedule = made;
  return MPI_SUCCESS;
}

int ura_temp(ura_schedule* schedule, MPI_Count bytes, int* buffer) {
  if (!draft(schedule)) return shim::user_error("ura_temp", MPI_ERR_ARG, kDraft);
  if (bytes < 0 || buffer == nullptr)
    return shim::user_error("ura_temp", MPI_ERR_ARG,
                            "a size of at least 0 and a place for the buffer's number are needed");
  if (static_cast<std::size_t>(schedule->buffers) + schedule->builder->draft().temps().size() >= kMaxBuffers) {
    return shim::user_error("ura_temp", MPI_ERR_ARG,
                            "a schedule can have " + std::to_string(kMaxBuffers) + " buffers in all");
  }
  *buffer = static_cast<int>(schedule->builder->temp(static_cast<std::uint64_t>(bytes)));
  return MPI_SUCCESS;
}

int ura_send(ura_schedule* schedule, int peer, int buffer, MPI_Aint offset, MPI_Count bytes, int channel, int* node) {
  if (!draft(schedule)) return shim::user_error("ura_send", MPI_ERR_ARG, kDraft);
  if (bad_message(bytes, channel))
    return shim::user_error("ura_send", MPI_ERR_ARG, "bytes must be at least 0, the channel 0 to 255");
  return give(schedule->builder->send(static_cast<std::uint32_t>(peer), place(buffer, offset),
                                      static_cast<std::uint64_t>(bytes), static_cast<std::uint8_t>(channel)),
              node);
}

int ura_recv(ura_schedule* schedule, int peer, int buffer, MPI_Aint offset, MPI_Count bytes, int channel, int* node) {
  if (!draft(schedule)) return shim::user_error("ura_recv", MPI_ERR_ARG, kDraft);
  if (bad_message(bytes, channel))
    return shim::user_error("ura_recv", MPI_ERR_ARG, "bytes must be at least 0, the channel 0 to 255");
  return give(schedule->builder->recv(static_cast<std::uint32_t>(peer), place(buffer, offset),
                                      static_cast<std::uint64_t>(bytes), static_cast<std::uint8_t>(channel)),
              node);
}

int ura_copy(ura_schedule* schedule, int from_buffer, MPI_Aint from_offset, int to_buffer, MPI_Aint to_offset,
             MPI_Count bytes, int* node) {
  if (!draft(schedule)) return shim::user_error("ura_copy", MPI_ERR_ARG, kDraft);
  if (bytes < 0) return shim::user_error("ura_copy", MPI_ERR_ARG, "bytes must be at least 0");
  return give(schedule->builder->copy(place(from_buffer, from_offset), place(to_buffer, to_offset),
                                      static_cast<std::uint64_t>(bytes)),
              node);
}

int ura_reduce(ura_schedule* schedule, int left_buffer, MPI_Aint left_offset, int right_buffer, MPI_Aint right_offset,
               MPI_Count count, MPI_Datatype datatype, MPI_Op op, int* node) {
  if (!draft(schedule)) return shim::user_error("ura_reduce", MPI_ERR_ARG, kDraft);
  if (count < 0) return shim::user_error("ura_reduce", MPI_ERR_COUNT, "the count must be at least 0");
  const shim::Datatype* type = shim::datatype(datatype);
  if (type == nullptr || !type->contiguous) {
    return shim::user_error("ura_reduce", MPI_ERR_TYPE, "a predefined type without gaps is needed");
  }
  const auto* reducer = shim::meaning_of(op, *type).builtin;
  if (reducer == nullptr)
    return shim::user_error("ura_reduce", MPI_ERR_OP, "a predefined operation that is defined for the type is needed");
  if (schedule->reducer != nullptr && schedule->reducer != reducer) {
    return shim::user_error("ura_reduce", MPI_ERR_OP, "all reductions of a schedule have the same type and operation");
  }
  schedule->reducer = reducer;
  return give(schedule->builder->reduce(place(left_buffer, left_offset), place(right_buffer, right_offset),
                                        static_cast<std::uint64_t>(count) * type->size, type->size),
              node);
}

int ura_name(ura_schedule* schedule, const char* name) {
  if (schedule == nullptr || name == nullptr || *name == '\0') {
    return shim::user_error("ura_name", MPI_ERR_ARG, "there is no schedule, or no name");
  }
  schedule->name = name;
  return MPI_SUCCESS;
}

int ura_after(ura_schedule* schedule, int first, int then) {
  if (!draft(schedule)) return shim::user_error("ura_after", MPI_ERR_ARG, kDraft);
  const auto nodes = static_cast<int>(schedule->builder->draft().nodes().size());
  if (first < 0 || first >= nodes || then < 0 || then >= nodes) {
    return shim::user_error("ura_after", MPI_ERR_ARG,
                            "there is no node " + std::to_string(first < 0 || first >= nodes ? first : then));
  }
  schedule->builder->after(static_cast<NodeId>(first), static_cast<NodeId>(then));
  return MPI_SUCCESS;
}

int ura_commit(ura_schedule* schedule) {
  if (!draft(schedule)) return shim::user_error("ura_commit", MPI_ERR_ARG, kDraft);
  auto built = schedule->builder->commit();
  schedule->builder.reset();
  // On all ranks, also if this rank's schedule is wrong: sibling() is collective.
  shim::Communicator* const own = schedule->communicator->sibling();
  if (own == nullptr) {
    return shim::user_error("ura_commit", MPI_ERR_OTHER,
                            "the MPI library's tags have no room for more schedules; free some first");
  }
  if (!built.ok()) {
    own->release();
    return shim::user_error("ura_commit", MPI_ERR_ARG, built.error().message);
  }
  schedule->prepared.schedule = std::make_shared<const urakata::schedule::Schedule>(std::move(*built));
  schedule->prepared.algorithm = "user";
  schedule->prepared.why = "the program's own schedule";
  schedule->own = own;
  return MPI_SUCCESS;
}

int ura_start(ura_schedule* schedule, void* const* buffers, MPI_Request* request) {
  if (schedule == nullptr || schedule->own == nullptr) {
    return shim::user_error("ura_start", MPI_ERR_ARG, "the schedule is not committed");
  }
  if (request == nullptr || (buffers == nullptr && schedule->buffers != 0)) {
    return shim::user_error("ura_start", MPI_ERR_ARG, "buffers and request must not be null");
  }
  for (int buffer = 0; buffer < schedule->buffers && shim::have_devices(); ++buffer) {
    const auto place = urakata::device::place_of(buffers[buffer]);
    if (!place) return shim::user_error("ura_start", MPI_ERR_OTHER, place.error().message);
    if (place->driver != nullptr) {
      return shim::user_error(
          "ura_start", MPI_ERR_BUFFER,
          "a buffer is in memory of a device, and how much of it is used is not known here; copy it to the "
          "processor's memory first");
    }
  }
  urakata::observe::Observer* observer = shim::process_state.observer;
  const std::uint64_t begin = observer != nullptr ? urakata::now_ns() : 0;
  schedule->own->retain();
  if (!urakata::reserve::enough() || !shim::have_request()) return shim::fail_start(*schedule->own, MPI_ERR_NO_MEM);
  shim::Request& made = *shim::make_request();
  const int failure = shim::or_no_memory([&] {
    shim::give_run(made, schedule->prepared, *schedule->own);
    made.run->bind_temps(0);
    return int{MPI_SUCCESS};
  });
  if (failure != MPI_SUCCESS) {
    schedule->own->retain();
    shim::destroy_request(&made);
    return shim::fail_start(*schedule->own, failure);
  }
  for (int buffer = 0; buffer < schedule->buffers; ++buffer) {
    made.run->bind(static_cast<BufferId>(buffer),
                   static_cast<std::byte*>(buffers[buffer]));  // NOLINT: not null where there are
  }
  made.run->reducer = schedule->reducer;
  if (observer != nullptr) {
    made.call_site = observer->call_site(
        {schedule->name, shim::caller(__builtin_return_address(0)), 0, schedule->own->engine->name(), "user"},
        schedule->prepared.why);
  }
  *request = made.handle();
  return shim::submit(made, begin);
}

int ura_free(ura_schedule** schedule) {
  if (schedule == nullptr || *schedule == nullptr)
    return shim::user_error("ura_free", MPI_ERR_ARG, "there is no schedule");
  if (!(*schedule)->prepared.idle()) {
    return shim::user_error("ura_free", MPI_ERR_PENDING,
                            "a start of the schedule is not completed; wait for its request first");
  }
  if ((*schedule)->own != nullptr) (*schedule)->own->release();
  (*schedule)->communicator->release();
  delete *schedule;
  *schedule = nullptr;
  return MPI_SUCCESS;
}

}  // extern "C"
