// SPDX-License-Identifier: BSD-3-Clause
// Transport `native`: messages over the MPI library's point-to-point, on a private communicator.
//
// Api is one MPI library's binding, written by the shim, so that no MPI handle is seen here:
//     using Request = ...;
//     static int isend(const Message&, Request*);
//     static int irecv(const Message&, Request*);
//     // Whether a request that isend has just made stands for a send that is done, and needs no test to be given back.
//     static bool done(Request);
//     // As MPI_Test: whether the request is done (it is then left invalid), and the error code if it is.
//     static bool test(Request*, int* error);
//     // As MPI_Testsome on requests[0..n): the number done, their indices, an error code for each; finished requests
//     // are left invalid.
//     static int testsome(int n, Request* requests, int* done, int* indices, int* errors);
//     // As MPI_Cancel on a receive.
//     static void cancel(Request*);
//     // As isend; the notice stays where it is until the request is done.
//     static int isend_notice(std::int32_t peer, const Notice&, Request*);
//     // The next notice that another rank has sent; false: there is none.
//     static bool take_notice(Notice*);
//     // Begins to receive a message that no receive has met, and keeps nothing of it; false: it is not there.
//     static bool take_away(std::int32_t peer, std::int32_t tag, Request*);
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <vector>

#include "base/clock.hpp"
#include "transport/transport.hpp"

namespace urakata::transport {

template <class Api>
class NativeTransport final : public Transport {
 public:
  // Notices go to `failures`. `timeout_ns`: how long a message that was given up may take to end.
  NativeTransport(Failures& failures, std::uint64_t timeout_ns) : failures_(failures), timeout_ns_(timeout_ns) {}

  int send(const Message& message, Ticket ticket, bool* finished) override {
    typename Api::Request request;
    if (const int code = Api::isend(message, &request); code != 0) return code;
    int error = 0;
    const bool gone =
        finished != nullptr && (Api::done(request) || (message.bytes <= kShort && Api::test(&request, &error)));
    if (!gone) keep(request, ticket, State::sending);
    if (finished != nullptr) *finished = gone;
    return error;
  }

  int recv(const Message& message, Ticket ticket, bool* finished) override {
    if (finished != nullptr) *finished = false;
    typename Api::Request request;
    if (const int code = Api::irecv(message, &request); code != 0) return code;
    keep(request, ticket, State::receiving);
    return 0;
  }

  std::span<const Completion> poll() override {
    completions_.clear();
    if (requests_.empty()) {
      if (listening()) hear();
      return {};
    }
    if (requests_.size() == 1) {
      int error = 0;
      if (Api::test(requests_.data(), &error)) {
        completions_.push_back({tickets_.front(), error});
        clear();
      } else {
        in_vain();
      }
      return completions_;
    }
    indices_.resize(requests_.size());
    errors_.resize(requests_.size());
    int count = 0;
    const int code =
        Api::testsome(static_cast<int>(requests_.size()), requests_.data(), &count, indices_.data(), errors_.data());
    if (count > 0) {
      for (int k = 0; k < count; ++k) {
        const auto at = static_cast<std::size_t>(indices_[static_cast<std::size_t>(k)]);
        completions_.push_back({tickets_[at], errors_[static_cast<std::size_t>(k)]});
      }
      remove(std::span(indices_).first(static_cast<std::size_t>(count)));
    } else if (code != 0) {  // the MPI library can say of none what became of it
      for (const Ticket& ticket : tickets_) completions_.push_back({ticket, code});
      clear();
    } else {
      in_vain();
    }
    return completions_;
  }

  std::size_t in_flight() const override { return requests_.size(); }

  // The MPI library takes back receives that no message has met, and then reports them; whatever else is under way it
  // ends as soon as the other side does its part.
  std::size_t cancel(const void* instance) override {
    for (std::size_t i = 0; i < tickets_.size(); ++i) {
      if (tickets_[i].instance != instance) continue;
      if (states_[i] == State::receiving) Api::cancel(&requests_[i]);
      states_[i] = State::given_up;
      give_up_ns_ = now_ns() + timeout_ns_;
    }
    return 0;
  }

  const Failures& failures() const override { return failures_; }
  void tell(std::int32_t peer, const Notice& notice) override {
    listen();
    notices_.push_back({notice, {}});
    if (Api::isend_notice(peer, notices_.back().notice, &notices_.back().request) != 0) notices_.pop_back();
  }
  void withdraw(std::int32_t peer, std::int32_t own, std::int32_t tag) override {
    tell(peer, {.from = own, .withdrawn = tag});
  }
  bool listening() const override { return listen_until_ns_ != 0; }

 private:
  enum class State : std::uint8_t { sending, receiving, given_up };
  struct Sent {
    Notice notice;
    typename Api::Request request;
  };
  // What every MPI library sends without a part that the receiver hands back, at least between processes of one node:
  // such a send is done when it returns. To test a longer one would be in vain, and where ranks share cores Open MPI
  // gives the core away in each such test: an Iallgather of 512 B by four ranks on two cores then takes 1.4 times as
  // long.
  static constexpr std::uint64_t kShort = 256;

  // Polls in vain after which it is worth asking for notices: of one that polls all the time, and of one that sleeps in
  // between.
  static constexpr unsigned kVain = 256;
  static constexpr unsigned kVainSlow = 16;
  static constexpr std::uint64_t kSlow = 1'000'000;  // ns since they were asked for

  void keep(typename Api::Request request, Ticket ticket, State state) {
    requests_.push_back(request);
    tickets_.push_back(ticket);
    states_.push_back(state);
  }

  void clear() {
    requests_.clear();
    tickets_.clear();
    states_.clear();
  }

  void listen() { listen_until_ns_ = now_ns() + timeout_ns_; }

  void hear() {
    heard_ns_ = coarse_now_ns();
    for (Notice notice; Api::take_notice(&notice);) {
      listen();
      if (notice.withdrawn == Notice::kNone) {
        failures_.add(notice);
      } else {  // all that have come: one before it, of which its sender knows no more, would be met first
        for (typename Api::Request request; Api::take_away(notice.from, notice.withdrawn, &request);) {
          taken_away_.push_back(request);
        }
      }
    }
    int error = 0;
    while (!notices_.empty() && Api::test(&notices_.front().request, &error)) notices_.pop_front();
    std::erase_if(taken_away_, [&](typename Api::Request& request) { return Api::test(&request, &error); });
    if (listening() && now_ns() >= listen_until_ns_) listen_until_ns_ = 0;
  }

  void in_vain() {
    if (++vain_ % kVainSlow != 0) return;
    if (vain_ % kVain != 0 && coarse_now_ns() - heard_ns_ < kSlow) return;
    hear();
    if (give_up_ns_ == 0 || now_ns() < give_up_ns_) return;
    // The peers have not done their part in time. The requests are dropped; what the MPI library holds for them stays
    // there.
    give_up_ns_ = 0;
    std::vector<int> late;
    for (std::size_t i = 0; i < states_.size(); ++i) {
      if (states_[i] != State::given_up) continue;
      completions_.push_back({tickets_[i], 0});
      late.push_back(static_cast<int>(i));
    }
    remove(late);
  }

  // Fills the holes of finished requests from the end; the order of the others does not matter.
  void remove(std::span<int> finished) {
    std::sort(finished.begin(), finished.end(), std::greater<>());
    for (const int index : finished) {
      const auto at = static_cast<std::size_t>(index);
      requests_[at] = requests_.back();
      tickets_[at] = tickets_.back();
      states_[at] = states_.back();
      requests_.pop_back();
      tickets_.pop_back();
      states_.pop_back();
    }
  }

  Failures& failures_;
  const std::uint64_t timeout_ns_;
  std::uint64_t give_up_ns_ = 0;  // when the messages that were given up are to have ended; 0: there are none
  unsigned vain_ = 0;             // polls that found nothing
  std::uint64_t heard_ns_ = 0;    // when notices were asked for
  // Until when there is reason to ask although nothing is in flight; 0: there is none.
  std::uint64_t listen_until_ns_ = 0;
  std::deque<Sent> notices_;                       // that may still be under way
  std::vector<typename Api::Request> taken_away_;  // of others' messages
  std::vector<typename Api::Request> requests_;
  std::vector<Ticket> tickets_;
  std::vector<State> states_;
  std::vector<int> indices_;
  std::vector<int> errors_;
  std::vector<Completion> completions_;
};

}  // namespace urakata::transport
