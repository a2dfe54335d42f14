// SPDX-License-Identifier: BSD-3-Clause
// An MPI library with one communicator whose messages the tests put in: matching as MPI has it, two lists searched from
// the front. A message is its number.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "messages/message_descriptor.hpp"
#include "messages/native_receives.hpp"

namespace urakata::messages::test {

class ModelNativeReceives final : public NativeReceives {
 public:
  struct Message {
    p2p::Envelope envelope;
    std::uint64_t number;
  };

  // A message from outside arrives.
  void arrive(const Message& message) {
    const std::lock_guard guard(lock_);
    const auto it = std::find_if(posted_.begin(), posted_.end(), [&](const NativeHandle request) {
      return p2p::matches(requests_.at(request).envelope, message.envelope);
    });
    if (it == posted_.end()) {
      waiting_.push_back(message);
      return;
    }
    deliver(*it, message);
    posted_.erase(it);
  }

  // What a request has got; nothing where it was cancelled. The request is gone then.
  std::optional<Message> complete(NativeHandle request) {
    const std::lock_guard guard(lock_);
    const std::optional<Message> got = requests_.at(request).got;
    requests_.erase(request);
    return got;
  }
  bool has_message_for(const p2p::Envelope& pattern) {
    const std::lock_guard guard(lock_);
    return find(pattern) != waiting_.end();
  }
  // Has the MPI library matched the receive that the descriptor tells of?
  bool matched(const MessageDescriptor& descriptor) {
    const std::lock_guard guard(lock_);
    return std::any_of(requests_.begin(), requests_.end(), [&](const auto& entry) {
      return entry.second.descriptor == &descriptor && entry.second.got.has_value();
    });
  }
  std::size_t open() {
    const std::lock_guard guard(lock_);
    return requests_.size();
  }

  std::function<bool()> slow = [] { return false; };    // is a matched receive still on its way?
  std::function<bool()> stolen = [] { return false; };  // does another thread take the message that was found?
  std::function<void(void*)> disposed = [](void*) {};
  int refusal = 0;                             // error code of further receives
  std::set<NativeHandle> freed_communicators;  // of endpoint communicators that had to keep theirs
  int unused_endpoint_comms = 0;
  p2p::Endpoint* endpoint = nullptr;

  bool probe(const MessageDescriptor& pattern, p2p::Envelope* found) override {
    const std::lock_guard guard(lock_);
    const auto it = find(pattern.envelope);
    if (it == waiting_.end()) return false;
    *found = it->envelope;
    return true;
  }
  bool take(const MessageDescriptor&, const p2p::Envelope& found, NativeHandle* message) override {
    const std::lock_guard guard(lock_);
    const auto it = find(found);
    if (it == waiting_.end() || stolen()) return false;
    *message = ++last_;
    taken_[*message] = *it;
    waiting_.erase(it);
    return true;
  }
  int receive(const MessageDescriptor& descriptor, NativeHandle* request) override {
    const std::lock_guard guard(lock_);
    if (refusal != 0) return refusal;
    *request = ++last_;
    requests_[*request] = Receive(descriptor);
    const auto it = find(descriptor.envelope);
    if (it == waiting_.end()) {
      posted_.push_back(*request);
    } else {
      deliver(*request, *it);
      waiting_.erase(it);
    }
    return 0;
  }
  int receive(const MessageDescriptor& descriptor, NativeHandle message, NativeHandle* request) override {
    const std::lock_guard guard(lock_);
    *request = ++last_;
    requests_[*request] = Receive(descriptor);
    deliver(*request, taken_.at(message));
    taken_.erase(message);
    return 0;
  }
  bool ended(NativeHandle request) override {
    const std::lock_guard guard(lock_);
    const Receive& receive = requests_.at(request);
    return receive.cancelled || (receive.got.has_value() && !slow());
  }
  void cancel(NativeHandle request) override {
    const std::lock_guard guard(lock_);
    if (std::erase(posted_, request) != 0) requests_.at(request).cancelled = true;
  }
  void free(NativeHandle request) override {
    const std::lock_guard guard(lock_);
    if (requests_.at(request).got.has_value()) {
      requests_.erase(request);
    } else {
      requests_.at(request).freed = true;
    }
  }
  void leave_to_endpoint(p2p::Request& open, const MessageDescriptor&) override { endpoint->release(open); }
  void dispose(void* owner) override { disposed(owner); }
  void unused(const EndpointComm& endpoint_comm) override {
    if (endpoint_comm.freed().kept) freed_communicators.insert(endpoint_comm.communicator);
    ++unused_endpoint_comms;
  }

 private:
  // The descriptor may be gone once the MPI library has the receive, as the arguments of a call are; the buffer stays.
  struct Receive {
    Receive() = default;
    explicit Receive(const MessageDescriptor& of)
        : descriptor(&of), envelope(of.envelope), address(of.buffer.address) {}

    const MessageDescriptor* descriptor = nullptr;  // only to be told from others
    p2p::Envelope envelope{};
    std::byte* address = nullptr;
    std::optional<Message> got;
    bool cancelled = false;
    bool freed = false;
  };

  std::list<Message>::iterator find(const p2p::Envelope& pattern) {
    return std::find_if(waiting_.begin(), waiting_.end(),
                        [&](const Message& m) { return p2p::matches(pattern, m.envelope); });
  }
  void deliver(NativeHandle request, const Message& message) {
    Receive& receive = requests_.at(request);
    std::memcpy(receive.address, &message.number, sizeof message.number);
    receive.got = message;
    if (receive.freed) requests_.erase(request);
  }

  std::mutex lock_;
  std::list<Message> waiting_;
  std::map<NativeHandle, Message> taken_;
  std::map<NativeHandle, Receive> requests_;
  std::list<NativeHandle> posted_;
  NativeHandle last_ = 0;
};

}  // namespace urakata::messages::test
