// SPDX-License-Identifier: BSD-3-Clause
#include "shim/messages/native_receive_calls.hpp"

#include <climits>

#include "shim/communicators/communicator.hpp"
#include "shim/messages/message.hpp"
#include "shim/native/asking_native.hpp"
#include "shim/native/native_library.hpp"
#include "shim/requests/request.hpp"

namespace urakata::shim {
namespace {

using messages::NativeHandle;

int native_source(const p2p::Envelope& pattern) {
  return pattern.source == p2p::kAnySource ? MPI_ANY_SOURCE : pattern.source;
}
int native_tag(const p2p::Envelope& pattern) { return pattern.tag == p2p::kAnyTag ? MPI_ANY_TAG : pattern.tag; }

class NativeReceiveCalls final : public messages::NativeReceives {
 public:
  bool probe(const MessageDescriptor& pattern, p2p::Envelope* found) override {
    int flag = 0;
    MPI_Status status;
    const AskingNative asking;
    native.Iprobe(native_source(pattern.envelope), native_tag(pattern.envelope), comm_of(*pattern.endpoint_comm), &flag,
                  &status);
    if (flag != 0) *found = {pattern.envelope.context, status.MPI_SOURCE, status.MPI_TAG};
    return flag != 0;
  }

  bool take(const MessageDescriptor& pattern, const p2p::Envelope& found, NativeHandle* message) override {
    int flag = 0;
    MPI_Message taken = MPI_MESSAGE_NULL;
    const AskingNative asking;
    native.Improbe(native_source(found), native_tag(found), comm_of(*pattern.endpoint_comm), &flag, &taken,
                   MPI_STATUS_IGNORE);
    *message = bits(taken);
    return flag != 0;
  }

  int receive(const MessageDescriptor& descriptor, NativeHandle* request) override {
    std::byte* const address = descriptor.buffer.address;
    MPI_Datatype type = datatype_of(descriptor).handle();
    const int source = native_source(descriptor.envelope);
    const int tag = native_tag(descriptor.envelope);
    MPI_Comm comm = comm_of(*descriptor.endpoint_comm);
    return handing_out(request, [&](MPI_Request* made) {
#if defined(URAKATA_LARGE_COUNTS)
      if (descriptor.count > INT_MAX) return native.Irecv_c(address, descriptor.count, type, source, tag, comm, made);
#endif
      return native.Irecv(address, static_cast<int>(descriptor.count), type, source, tag, comm, made);
    });
  }

  int receive(const MessageDescriptor& descriptor, NativeHandle message, NativeHandle* request) override {
    std::byte* const address = descriptor.buffer.address;
    MPI_Datatype type = datatype_of(descriptor).handle();
    auto taken = handle_of<MPI_Message>(message);
    return handing_out(request, [&](MPI_Request* made) {
#if defined(URAKATA_LARGE_COUNTS)
      if (descriptor.count > INT_MAX) return native.Imrecv_c(address, descriptor.count, type, &taken, made);
#endif
      return native.Imrecv(address, static_cast<int>(descriptor.count), type, &taken, made);
    });
  }

  bool ended(NativeHandle request) override {
    int flag = 0;
    const int code = native.Request_get_status(handle_of<MPI_Request>(request), &flag, MPI_STATUS_IGNORE);
    return code != MPI_SUCCESS || flag != 0;
  }

  void cancel(NativeHandle request) override {
    auto canceled = handle_of<MPI_Request>(request);
    native.Cancel(&canceled);
  }

  void free(NativeHandle request) override {
    auto freed = handle_of<MPI_Request>(request);
    native.Request_free(&freed);
  }

  void leave_to_endpoint(p2p::Request& open, const MessageDescriptor& descriptor) override {
    retain(descriptor.buffer);  // the shim's request goes now, with its reference; the endpoint may still write
    leave_behind(open, *descriptor.endpoint_comm);
  }

  void dispose(void* owner) override { destroy_request(static_cast<Request*>(owner)); }

  void unused(const EndpointComm& endpoint_comm) override {
    forget_closed_endpoint_comm(endpoint_comm);
    if (!endpoint_comm.freed().kept) return;
    MPI_Comm freed = comm_of(endpoint_comm);
    before_forget(freed);
    forget_communicator(freed);
    native.Comm_free(&freed);
  }

 private:
  template <class Start>
  static int handing_out(NativeHandle* request, Start start) {
    MPI_Request made = MPI_REQUEST_NULL;
    const int code = start(&made);
    *request = bits(made);
    return code;
  }
};

}  // namespace

constinit messages::MixedQueue* mixed_queue = nullptr;

void open_mixed_queue(p2p::Endpoint& endpoint, bool concurrent) {
  static auto* the = new NativeReceiveCalls;
  native_receives = the;
  mixed_queue = new messages::MixedQueue(endpoint, *the, concurrent);
}

bool probe_native(const MessageDescriptor& descriptor, MPI_Status* status) {
  const messages::MixedQueue::Lock lock(*mixed_queue);
  p2p::Envelope found;
  if (!mixed_queue->find_at_native(descriptor, &found)) return false;
  int flag = 0;
  native.Iprobe(found.source, found.tag, comm_of(*descriptor.endpoint_comm), &flag, status);
  return flag != 0;
}

bool take_from_native(const MessageDescriptor& descriptor, MPI_Message* message, MPI_Status* status) {
  const messages::MixedQueue::Lock lock(*mixed_queue);
  p2p::Envelope found;
  if (!mixed_queue->find_at_native(descriptor, &found)) return false;
  int flag = 0;
  native.Improbe(found.source, found.tag, comm_of(*descriptor.endpoint_comm), &flag, message, status);
  return flag != 0;
}

}  // namespace urakata::shim
