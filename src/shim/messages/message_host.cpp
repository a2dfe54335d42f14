// SPDX-License-Identifier: BSD-3-Clause
#include "shim/messages/message_host.hpp"

#include <climits>

#include "shim/communicators/communicator.hpp"
#include "shim/messages/message.hpp"
#include "shim/native/asking_host.hpp"
#include "shim/native/host.hpp"
#include "shim/requests/request.hpp"

namespace urakata::shim {
namespace {

using messages::HostHandle;

int host_source(const p2p::Envelope& pattern) {
  return pattern.source == p2p::kAnySource ? MPI_ANY_SOURCE : pattern.source;
}
int host_tag(const p2p::Envelope& pattern) { return pattern.tag == p2p::kAnyTag ? MPI_ANY_TAG : pattern.tag; }

class MessageHost final : public messages::Host {
 public:
  bool probe(const MessageDescriptor& pattern, p2p::Envelope* found) override {
    int flag = 0;
    MPI_Status status;
    const AskingHost asking;
    host.Iprobe(host_source(pattern.envelope), host_tag(pattern.envelope), comm_of(*pattern.circle), &flag, &status);
    if (flag != 0) *found = {pattern.envelope.context, status.MPI_SOURCE, status.MPI_TAG};
    return flag != 0;
  }

  bool take(const MessageDescriptor& pattern, const p2p::Envelope& found, HostHandle* message) override {
    int flag = 0;
    MPI_Message taken = MPI_MESSAGE_NULL;
    const AskingHost asking;
    host.Improbe(host_source(found), host_tag(found), comm_of(*pattern.circle), &flag, &taken, MPI_STATUS_IGNORE);
    *message = bits(taken);
    return flag != 0;
  }

  int receive(const MessageDescriptor& descriptor, HostHandle* request) override {
    std::byte* const address = descriptor.buffer.address;
    MPI_Datatype type = datatype_of(descriptor).handle();
    const int source = host_source(descriptor.envelope);
    const int tag = host_tag(descriptor.envelope);
    MPI_Comm comm = comm_of(*descriptor.circle);
    return handing_out(request, [&](MPI_Request* made) {
#if defined(URAKATA_LARGE_COUNTS)
      if (descriptor.count > INT_MAX) return host.Irecv_c(address, descriptor.count, type, source, tag, comm, made);
#endif
      return host.Irecv(address, static_cast<int>(descriptor.count), type, source, tag, comm, made);
    });
  }

  int receive(const MessageDescriptor& descriptor, HostHandle message, HostHandle* request) override {
    std::byte* const address = descriptor.buffer.address;
    MPI_Datatype type = datatype_of(descriptor).handle();
    auto taken = handle_of<MPI_Message>(message);
    return handing_out(request, [&](MPI_Request* made) {
#if defined(URAKATA_LARGE_COUNTS)
      if (descriptor.count > INT_MAX) return host.Imrecv_c(address, descriptor.count, type, &taken, made);
#endif
      return host.Imrecv(address, static_cast<int>(descriptor.count), type, &taken, made);
    });
  }

  bool ended(HostHandle request) override {
    int flag = 0;
    const int code = host.Request_get_status(handle_of<MPI_Request>(request), &flag, MPI_STATUS_IGNORE);
    return code != MPI_SUCCESS || flag != 0;
  }

  void cancel(HostHandle request) override {
    auto canceled = handle_of<MPI_Request>(request);
    host.Cancel(&canceled);
  }

  void free(HostHandle request) override {
    auto freed = handle_of<MPI_Request>(request);
    host.Request_free(&freed);
  }

  void leave_to_endpoint(p2p::Request& open, const MessageDescriptor& descriptor) override {
    retain(descriptor.buffer);  // the owner's reference ends before the endpoint may be done
    leave_behind(open, *descriptor.circle);
  }

  void dispose(void* owner) override { destroy_request(static_cast<Request*>(owner)); }

  void unused(const Circle& circle) override {
    forget_closed_circle(circle);
    if (!circle.freed().kept) return;
    MPI_Comm freed = comm_of(circle);
    before_forget(freed);
    forget_communicator(freed);
    host.Comm_free(&freed);
  }

 private:
  template <class Start>
  static int handing_out(HostHandle* request, Start start) {
    MPI_Request made = MPI_REQUEST_NULL;
    const int code = start(&made);
    *request = bits(made);
    return code;
  }
};

}  // namespace

messages::Host& message_host() {
  static auto* the = new MessageHost;
  return *the;
}

constinit messages::MixedQueue* mixed_queue = nullptr;

void open_mixed_queue(p2p::Endpoint& endpoint, bool concurrent) {
  mixed_queue = new messages::MixedQueue(endpoint, message_host(), concurrent);
}

bool probe_host(const MessageDescriptor& descriptor, MPI_Status* status) {
  const messages::MixedQueue::Lock lock(*mixed_queue);
  p2p::Envelope found;
  if (!mixed_queue->find_at_host(descriptor, &found)) return false;
  int flag = 0;
  host.Iprobe(found.source, found.tag, comm_of(*descriptor.circle), &flag, status);
  return flag != 0;
}

bool take_from_host(const MessageDescriptor& descriptor, MPI_Message* message, MPI_Status* status) {
  const messages::MixedQueue::Lock lock(*mixed_queue);
  p2p::Envelope found;
  if (!mixed_queue->find_at_host(descriptor, &found)) return false;
  int flag = 0;
  host.Improbe(found.source, found.tag, comm_of(*descriptor.circle), &flag, message, status);
  return flag != 0;
}

}  // namespace urakata::shim
