// SPDX-License-Identifier: BSD-3-Clause
#include "shim/user/native_exchange.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "shim/native/native_library.hpp"

namespace urakata::shim {

namespace {

constexpr std::size_t kMostSeen = 8;  // pairs of vectors that messages are kept for

void discard(std::vector<MPI_Request>& requests) {
  for (MPI_Request& request : requests) {
    if (request != MPI_REQUEST_NULL) native.Request_free(&request);
  }
  requests.clear();
}

// MPI_Startall may start messages in any order, so the tag tells several messages between two ranks apart.
class Tags {
 public:
  int next(int rank) { return used_[rank]++; }

 private:
  std::map<int, int> used_;
};

}  // namespace

NativeExchange::NativeExchange(MPI_Comm comm, HaloSide out, HaloSide in)
    : comm_(comm), out_(std::move(out)), in_(std::move(in)), here_(in_.ranks.size()) {
  seen_.reserve(kMostSeen);
  arrived_.reserve(in_.ranks.size());
  // No receives from MPI_PROC_NULL: MPICH's MPI_Testany never reports a persistent one, Intel MPI's does so repeatedly.
  for (std::size_t i = 0; i < in_.ranks.size(); ++i) {
    if (in_.ranks[i] != MPI_PROC_NULL) receives_.push_back(i);
  }
  sends_ = out_.ranks.size() - static_cast<std::size_t>(std::ranges::count(out_.ranks, MPI_PROC_NULL));
}

NativeExchange::~NativeExchange() {
  for (Messages& one : seen_) discard(one.requests);
  native.Comm_free(&comm_);
}

int NativeExchange::messages_of(const void* from, void* to, std::vector<MPI_Request>** found) {
  const std::size_t all = receives_.size() + sends_;
  const auto same = std::ranges::find_if(
      seen_, [&](const Messages& m) { return m.from == from && m.to == to && m.requests.size() == all; });
  if (same != seen_.end()) {
    *found = &same->requests;
    return MPI_SUCCESS;
  }
  if (seen_.size() < kMostSeen) seen_.emplace_back();
  Messages& made = seen_[next_++ % kMostSeen];
  discard(made.requests);
  made = {from, to, std::vector<MPI_Request>(all, MPI_REQUEST_NULL)};
  MPI_Request* request = made.requests.data();
  int code = MPI_SUCCESS;
  Tags incoming;
  for (const std::size_t i : receives_) {
    if (code != MPI_SUCCESS) break;
    const int rank = in_.ranks[i];
    code = native.Recv_init(to, in_.bytes[i] != 0 ? 1 : 0, in_.types[i].handle(), rank, incoming.next(rank), comm_,
                            request++);
  }
  Tags outgoing;
  for (std::size_t i = 0; i < out_.ranks.size() && code == MPI_SUCCESS; ++i) {
    const int rank = out_.ranks[i];
    if (rank == MPI_PROC_NULL) continue;
    code = native.Send_init(from, out_.bytes[i] != 0 ? 1 : 0, out_.types[i].handle(), rank, outgoing.next(rank), comm_,
                            request++);
  }
  if (code != MPI_SUCCESS) discard(made.requests);
  *found = &made.requests;
  return code;
}

int NativeExchange::begin(const void* from, void* to) {
  std::fill(here_.begin(), here_.end(), false);
  arrived_.clear();
  told_ = 0;
  if (const int code = messages_of(from, to, &present_); code != MPI_SUCCESS) return code;
  for (std::size_t i = 0; i < in_.ranks.size(); ++i) {
    if (in_.ranks[i] == MPI_PROC_NULL) note(i);
  }
  if (present_->empty()) return MPI_SUCCESS;  // Open MPI refuses to start none
  return native.Startall(static_cast<int>(present_->size()), present_->data());
}

void NativeExchange::note(std::size_t in) {
  here_[in] = true;
  arrived_.push_back(in);
}

int NativeExchange::ready(std::size_t in, bool* here) {
  int code = MPI_SUCCESS;
  if (!here_[in]) {
    int flag = 0;
    const auto at = std::ranges::lower_bound(receives_, in) - receives_.begin();
    code = native.Test(&(*present_)[static_cast<std::size_t>(at)], &flag, MPI_STATUS_IGNORE);
    if (flag != 0) note(in);
  }
  *here = here_[in];
  return code;
}

int NativeExchange::ready_any(std::optional<std::size_t>* in) {
  int code = MPI_SUCCESS;
  if (told_ == arrived_.size()) {
    int flag = 0;
    int index = MPI_UNDEFINED;  // stays so where nothing is left to come
    code = native.Testany(static_cast<int>(receives_.size()), present_->data(), &index, &flag, MPI_STATUS_IGNORE);
    if (flag != 0 && index != MPI_UNDEFINED) note(receives_[static_cast<std::size_t>(index)]);
  }
  *in = told_ < arrived_.size() ? std::optional(arrived_[told_++]) : std::nullopt;
  return code;
}

int NativeExchange::wait() {
  return native.Waitall(static_cast<int>(present_->size()), present_->data(), MPI_STATUSES_IGNORE);
}

}  // namespace urakata::shim
