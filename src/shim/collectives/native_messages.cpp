// SPDX-License-Identifier: BSD-3-Clause
#include "shim/collectives/native_messages.hpp"

#include <climits>
#include <vector>

#include "base/clock.hpp"
#include "shim/native/large_count.hpp"
#include "shim/native/private_comms.hpp"
#include "shim/process/process_state.hpp"
#include "shim/types/datatype.hpp"

namespace urakata::shim {

namespace {

thread_local std::uint64_t ticks = 0;

class Meter {
 public:
  Meter() : on_(process_state.measuring), begin_(on_ ? now_ns() : 0) {}
  ~Meter() {
    if (on_) ticks += now_ns() - begin_;
  }
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

 private:
  bool on_;
  std::uint64_t begin_;
};

template <class Post>
int post(const transport::Message& message, Post operation) {
  const Meter meter;
  if (message.layout != nullptr) {
    const auto& type = static_cast<const Datatype&>(*message.layout);
    const std::uint64_t count = message.bytes / type.size;
    if (count <= INT_MAX) return operation(static_cast<int>(count), type.handle());
    const LargeCount large(count, type.handle(), type.extent);
    return operation(1, large.type);
  }
  if (message.bytes <= INT_MAX) return operation(static_cast<int>(message.bytes), MPI_BYTE);
  const LargeCount large(message.bytes);
  return operation(1, large.type);
}

}  // namespace

std::uint64_t native_ticks() { return ticks; }

int NativeMessages::isend(const transport::Message& message, MPI_Request* request) {
  return post(message, [&](int count, MPI_Datatype type) {
    return native.Isend(message.address, count, type, message.peer, message.tag, private_comms.world, request);
  });
}

int NativeMessages::irecv(const transport::Message& message, MPI_Request* request) {
  return post(message, [&](int count, MPI_Datatype type) {
    return native.Irecv(message.address, count, type, message.peer, message.tag, private_comms.world, request);
  });
}

bool NativeMessages::done([[maybe_unused]] MPI_Request request) {
#if defined(URAKATA_ABI_OPENMPI)
  return request == native.done_request;
#else
  return false;
#endif
}

void NativeMessages::cancel(MPI_Request* request) { native.Cancel(request); }

// Notices have the largest tag, which no context has (Process::own_facts).
constexpr int kNotice = 4;  // integers
static_assert(sizeof(transport::Notice) == kNotice * sizeof(int));

int NativeMessages::isend_notice(std::int32_t peer, const transport::Notice& notice, MPI_Request* request) {
  return native.Isend(&notice, kNotice, MPI_INT, peer, private_comms.largest_tag, private_comms.world, request);
}

bool NativeMessages::take_notice(transport::Notice* notice) {
  int found = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  const int code = native.Improbe(MPI_ANY_SOURCE, private_comms.largest_tag, private_comms.world, &found, &message,
                                  MPI_STATUS_IGNORE);
  return code == MPI_SUCCESS && found != 0 &&
         native.Mrecv(notice, kNotice, MPI_INT, &message, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

// Receives without a buffer: the MPI library then reports a message that is too long, but the send ends all the same.
bool NativeMessages::take_away(std::int32_t peer, std::int32_t tag, MPI_Request* request) {
  int found = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  const int code = native.Improbe(peer, tag, private_comms.world, &found, &message, MPI_STATUS_IGNORE);
  return code == MPI_SUCCESS && found != 0 && native.Imrecv(nullptr, 0, MPI_BYTE, &message, request) == MPI_SUCCESS;
}

bool NativeMessages::test(MPI_Request* request, int* error) {
  const Meter meter;
  int flag = 0;
  *error = native.Test(request, &flag, MPI_STATUS_IGNORE);
  return flag != 0 || *error != MPI_SUCCESS;
}

int NativeMessages::testsome(int n, MPI_Request* requests, int* done, int* indices, int* errors) {
  const Meter meter;
  thread_local std::vector<MPI_Status> statuses;
  if (statuses.size() < static_cast<std::size_t>(n)) statuses.resize(static_cast<std::size_t>(n));
  const int code = native.Testsome(n, requests, done, indices, statuses.data());
  if (*done == MPI_UNDEFINED) *done = 0;
  for (int i = 0; i < *done; ++i)
    errors[i] = code == MPI_ERR_IN_STATUS ? statuses[static_cast<std::size_t>(i)].MPI_ERROR : 0;
  return code == MPI_ERR_IN_STATUS ? MPI_SUCCESS : code;
}

}  // namespace urakata::shim
