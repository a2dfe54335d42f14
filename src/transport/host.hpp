// Transport `host`: messages over the host MPI's point-to-point, on a private communicator.
//
// Api is one host's binding, written by the shim, so that no MPI handle is seen here:
//     using Request = ...;
//     static int isend(const Message&, Request*);
//     static int irecv(const Message&, Request*);
//     // Whether a request that isend has just made stands for a send that is done, and needs no test to be let go.
//     static bool done(Request);
//     // As MPI_Test: whether the request is done (it is then left invalid), and the error code if it is.
//     static bool test(Request*, int* error);
//     // As MPI_Testsome on requests[0..n): the number done, their indices, an error code for each; finished requests
//     are
//     // left invalid.
//     static int testsome(int n, Request* requests, int* done, int* indices, int* errors);
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "transport/transport.hpp"

namespace urakata::transport {

template <class Api>
class HostTransport final : public Transport {
 public:
  int send(const Message& message, Ticket ticket, bool* finished) override {
    typename Api::Request request;
    if (const int code = Api::isend(message, &request); code != 0) return code;
    int error = 0;
    const bool gone =
        finished != nullptr && (Api::done(request) || (message.bytes <= kShort && Api::test(&request, &error)));
    if (!gone) keep(request, ticket);
    if (finished != nullptr) *finished = gone;
    return error;
  }

  int recv(const Message& message, Ticket ticket, bool* finished) override {
    if (finished != nullptr) *finished = false;
    typename Api::Request request;
    if (const int code = Api::irecv(message, &request); code != 0) return code;
    keep(request, ticket);
    return 0;
  }

  std::span<const Completion> poll() override {
    completions_.clear();
    if (requests_.empty()) return {};
    if (requests_.size() == 1) {
      int error = 0;
      if (Api::test(requests_.data(), &error)) {
        completions_.push_back({tickets_.front(), error});
        requests_.clear();
        tickets_.clear();
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
    } else if (code != 0) {  // the host can say of none what became of it
      for (const Ticket& ticket : tickets_) completions_.push_back({ticket, code});
      requests_.clear();
      tickets_.clear();
    }
    return completions_;
  }

  std::size_t in_flight() const override { return requests_.size(); }

 private:
  // What every host sends without a part that the receiver hands back, at least between processes of one node: such a
  // send is done when it returns. To test a longer one would be in vain, and where ranks share cores Open MPI gives the
  // core away in each such test: an Iallgather of 512 B by four ranks on two cores then takes 1.4 times as long.
  static constexpr std::uint64_t kShort = 256;

  void keep(typename Api::Request request, Ticket ticket) {
    requests_.push_back(request);
    tickets_.push_back(ticket);
  }

  // Fills the holes of finished requests from the end; the order of the others does not matter.
  void remove(std::span<int> finished) {
    std::sort(finished.begin(), finished.end(), std::greater<>());
    for (const int index : finished) {
      const auto at = static_cast<std::size_t>(index);
      requests_[at] = requests_.back();
      tickets_[at] = tickets_.back();
      requests_.pop_back();
      tickets_.pop_back();
    }
  }

  std::vector<typename Api::Request> requests_;
  std::vector<Ticket> tickets_;
  std::vector<int> indices_;
  std::vector<int> errors_;
  std::vector<Completion> completions_;
};

}  // namespace urakata::transport
