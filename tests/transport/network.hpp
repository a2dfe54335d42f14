// SPDX-License-Identifier: BSD-3-Clause
// A network in memory between simulated ranks of one process, behind NativeTransport's Api.
//
// Made to be as unkind as an MPI library may be. Messages of one (source, destination, tag) meet in order; apart from
// that they are finished in random order, each only after a random number of polls. A send is done before its receive
// is posted, or only when the receiver has the payload, by the toss of a coin; until then the sender's memory is read
// where it lies, so that the thread sanitizer sees a sender that touches it too unexpected.
//
// Thread-safety: everything by anyone.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "transport/native_transport.hpp"

namespace urakata::simulated {

inline constexpr int kTruncated = 15;  // a receive met a message of another size
inline constexpr int kTold = 17;       // another rank has told of a failure
inline constexpr int kMaxRanks = 6;

class Network {
 public:
  enum class Call : std::uint8_t { isend, irecv, message, poll };

  explicit Network(std::uint64_t seed) : random_(seed) {}

  // The next such call of the rank fails with `code`; message: the next message that is reported to it.
  void fail_next(int rank, Call call, int code) {
    const std::lock_guard guard(lock_);
    faults_[{rank, call}] = code;
  }
  // While held, polls report nothing.
  void hold(bool held) {
    const std::lock_guard guard(lock_);
    held_ = held;
  }
  // No send is done when isend returns.
  void nothing_at_once() {
    const std::lock_guard guard(lock_);
    at_once_ = false;
  }
  // From now on nothing goes between the two ranks. What the one called `noticing` has under way with the other, or
  // posts later, ends with `code`; the other hears nothing.
  void break_link(int noticing, int other, int code) {
    const std::lock_guard guard(lock_);
    broken_[{noticing, other}] = code;
    broken_.insert({{other, noticing}, 0});
    for (auto& [address, operation] : operations_) {
      if (operation->rank != noticing || operation->message.peer != other) continue;
      if (operation->finished || operation->matched) continue;
      withdraw(*operation);
      operation->finished = true;
      operation->code = code;
    }
  }
  // Messages sent that nobody has received, and receives that no message has met.
  std::size_t unmatched() const {
    const std::lock_guard guard(lock_);
    std::size_t count = 0;
    for (const auto& [key, queue] : queues_) count += queue.parcels.size() + queue.receives.size();
    return count;
  }
  std::uint64_t messages() const {
    const std::lock_guard guard(lock_);
    return messages_;
  }

  struct Operation;

  int isend(int rank, const transport::Message& message, Operation** request) {
    const std::lock_guard guard(lock_);
    if (const int code = fault(rank, Call::isend); code != 0) return code;
    ++messages_;
    Operation& operation = add(rank, message);
    *request = &operation;
    if (breaks(operation)) return 0;
    Parcel parcel{.payload = {}, .message = message, .sender = nullptr};
    if (toss()) {
      parcel.payload = packed(message);
      operation.finished = true;
    } else {
      parcel.sender = &operation;
    }
    Queue& queue = queues_[{rank, message.peer, message.tag}];
    queue.parcels.push_back(std::move(parcel));
    match(queue);
    if (at_once_ && operation.finished && toss()) {
      operations_.erase(&operation);
      *request = nullptr;  // done at once
    }
    return 0;
  }

  int irecv(int rank, const transport::Message& message, Operation** request) {
    const std::lock_guard guard(lock_);
    if (const int code = fault(rank, Call::irecv); code != 0) return code;
    Operation& operation = add(rank, message);
    *request = &operation;
    if (breaks(operation)) return 0;
    Queue& queue = queues_[{message.peer, rank, message.tag}];
    queue.receives.push_back(&operation);
    match(queue);
    return 0;
  }

  // As MPI_Cancel: a receive that has met its message goes on.
  void cancel(Operation* request) {
    const std::lock_guard guard(lock_);
    if (request->matched) return;
    withdraw(*request);
    request->finished = true;
  }

  int isend_notice(int rank, int peer, const transport::Notice& notice, Operation** request) {
    const std::lock_guard guard(lock_);
    if (!broken_.contains({rank, peer})) notices_[peer].push_back(notice);
    *request = &add(rank, {});
    (*request)->finished = true;
    return 0;
  }
  bool take_notice(int rank, transport::Notice* notice) {
    const std::lock_guard guard(lock_);
    auto& waiting = notices_[rank];
    if (waiting.empty()) return false;
    *notice = waiting.front();
    waiting.pop_front();
    return true;
  }
  bool take_away(int rank, int peer, int tag, Operation** request) {
    const std::lock_guard guard(lock_);
    auto& parcels = queues_[{peer, rank, tag}].parcels;
    if (parcels.empty()) return false;
    if (parcels.front().sender != nullptr) parcels.front().sender->finished = true;
    parcels.pop_front();
    *request = &add(rank, {});
    (*request)->finished = true;
    return true;
  }

  // Of each rank.
  transport::Failures& failures(int rank) { return failures_[static_cast<std::size_t>(rank)]; }

  int testsome(int rank, int n, Operation** requests, int* done, int* indices, int* errors) {
    const std::lock_guard guard(lock_);
    *done = 0;
    if (const int code = fault(rank, Call::poll); code != 0) {
      for (int i = 0; i < n; ++i) {
        if (requests[i] != nullptr) forget(*requests[i]);
      }
      return code;
    }
    if (held_) return 0;
    std::vector<int> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    for (const int i : order) {
      if (requests[i] == nullptr) {
        indices[*done] = i;
        errors[*done] = 0;
        ++*done;
        continue;
      }
      Operation& operation = *requests[i];
      if (!operation.finished && !operation.matched) continue;
      if (operation.delay != 0) {
        --operation.delay;
        continue;
      }
      int code = operation.matched ? deliver(operation) : operation.code;
      if (const int injected = fault(rank, Call::message); injected != 0) code = injected;
      indices[*done] = i;
      errors[*done] = code;
      ++*done;
      requests[i] = nullptr;
      operations_.erase(&operation);
    }
    return 0;
  }

 private:
  struct Parcel {
    std::vector<std::byte> payload;  // unless the payload is still at the sender
    transport::Message message;
    Operation* sender = nullptr;  // waits until the payload is fetched; null: it is gone
  };

 public:
  struct Operation {
    int rank = 0;
    transport::Message message;
    unsigned delay = 0;  // polls until it is reported
    bool finished = false;
    bool matched = false;  // a receive that has a parcel
    int code = 0;
    Parcel parcel;
  };

 private:
  struct Queue {
    std::deque<Parcel> parcels;
    std::deque<Operation*> receives;
  };

  bool toss() { return std::bernoulli_distribution(0.5)(random_); }

  int fault(int rank, Call call) {
    const auto found = faults_.find({rank, call});
    if (found == faults_.end()) return 0;
    const int code = found->second;
    faults_.erase(found);
    return code;
  }

  Operation& add(int rank, const transport::Message& message) {
    auto made = std::make_unique<Operation>();
    made->rank = rank;
    made->message = message;
    made->delay = std::uniform_int_distribution<unsigned>(0, 3)(random_);
    Operation& operation = *made;
    operations_.emplace(&operation, std::move(made));
    return operation;
  }

  void match(Queue& queue) {
    while (!queue.parcels.empty() && !queue.receives.empty()) {
      Operation& receive = *queue.receives.front();
      receive.parcel = std::move(queue.parcels.front());
      receive.matched = true;
      queue.parcels.pop_front();
      queue.receives.pop_front();
    }
  }

  int deliver(Operation& receive) {
    Parcel& parcel = receive.parcel;
    const bool fits = parcel.message.bytes == receive.message.bytes;
    if (fits) unpack(parcel.sender != nullptr ? packed(parcel.message) : parcel.payload, receive.message);
    if (parcel.sender != nullptr) parcel.sender->finished = true;
    return fits ? 0 : kTruncated;
  }

  // Is it over a broken link? Then it never meets another.
  bool breaks(Operation& operation) {
    const auto found = broken_.find({operation.rank, operation.message.peer});
    if (found == broken_.end()) return false;
    operation.code = found->second;
    operation.finished = operation.code != 0;
    return true;
  }

  // It meets no other any more, and its memory is not looked at.
  void withdraw(Operation& operation) {
    for (auto& [key, queue] : queues_) {
      std::erase(queue.receives, &operation);
      std::erase_if(queue.parcels, [&](const Parcel& parcel) { return parcel.sender == &operation; });
    }
    for (auto& [address, other] : operations_) {
      Parcel& parcel = other->parcel;
      if (parcel.sender != &operation) continue;
      parcel.payload = packed(parcel.message);
      parcel.sender = nullptr;
    }
  }

  // The operation's owner will not ask for it again.
  void forget(Operation& operation) {
    withdraw(operation);
    operations_.erase(&operation);
  }

  static std::vector<std::byte> packed(const transport::Message& message) {
    std::vector<std::byte> payload(message.bytes);
    if (message.bytes == 0) return payload;
    if (message.layout != nullptr) {
      message.layout->pack(message.address, 0, message.bytes / message.layout->size, payload.data());
    } else {
      std::memcpy(payload.data(), message.address, message.bytes);
    }
    return payload;
  }
  static void unpack(const std::vector<std::byte>& payload, const transport::Message& message) {
    if (message.bytes == 0) return;
    if (message.layout != nullptr) {
      message.layout->unpack(payload.data(), message.address, 0, message.bytes / message.layout->size);
    } else {
      std::memcpy(message.address, payload.data(), message.bytes);
    }
  }

  mutable std::mutex lock_;
  std::mt19937_64 random_;
  bool held_ = false;
  bool at_once_ = true;
  std::uint64_t messages_ = 0;
  std::map<std::pair<int, Call>, int> faults_;
  std::map<std::pair<int, int>, int> broken_;  // ends of broken links: the code that the first one gets; 0: none
  std::map<int, std::deque<transport::Notice>> notices_;
  std::array<transport::Failures, kMaxRanks> failures_{transport::Failures(kTold), transport::Failures(kTold),
                                                       transport::Failures(kTold), transport::Failures(kTold),
                                                       transport::Failures(kTold), transport::Failures(kTold)};
  std::map<std::tuple<int, int, int>, Queue> queues_;  // by source, destination, tag
  std::unordered_map<Operation*, std::unique_ptr<Operation>> operations_;
};

// One rank's binding. An Api has static functions only, so each rank is a type of its own.
template <int Rank>
struct Api {
  using Request = Network::Operation*;
  static inline Network* network = nullptr;

  static int isend(const transport::Message& message, Request* request) {
    return network->isend(Rank, message, request);
  }
  static int irecv(const transport::Message& message, Request* request) {
    return network->irecv(Rank, message, request);
  }
  static bool done(Request request) { return request == nullptr; }
  static bool test(Request* request, int* error) {
    int done = 0;
    int index = 0;
    network->testsome(Rank, 1, request, &done, &index, error);
    return done != 0;
  }
  static int testsome(int n, Request* requests, int* done, int* indices, int* errors) {
    return network->testsome(Rank, n, requests, done, indices, errors);
  }
  static void cancel(Request* request) { network->cancel(*request); }
  static int isend_notice(int peer, const transport::Notice& notice, Request* request) {
    return network->isend_notice(Rank, peer, notice, request);
  }
  static bool take_notice(transport::Notice* notice) { return network->take_notice(Rank, notice); }
  static bool take_away(int peer, int tag, Request* request) { return network->take_away(Rank, peer, tag, request); }
};

// A rank's transport on the network. One network at a time. A message that was given up and cannot be taken back is let
// go after `timeout_ns`.
template <int Rank = 0>
std::unique_ptr<transport::Transport> attach(Network& network, int rank, std::uint64_t timeout_ns = 0) {
  if constexpr (Rank < kMaxRanks) {
    if (rank != Rank) return attach<Rank + 1>(network, rank, timeout_ns);
    Api<Rank>::network = &network;
    return std::make_unique<transport::NativeTransport<Api<Rank>>>(network.failures(Rank), timeout_ns);
  } else {
    return nullptr;
  }
}

}  // namespace urakata::simulated
