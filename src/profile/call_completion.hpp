// SPDX-License-Identifier: BSD-3-Clause
// What a call that may end requests tells the time line.
//
// Thread-safety: of the calling thread.
#pragma once

#include <vector>

#include "profile/profiled_call.hpp"
#include "profile/time_line.hpp"
#include "shim/native/abi.hpp"

namespace urakata::profile {

// Around a call that may end requests: what is known of them is taken out before, since another thread may be given a
// handle that has ended before this one can tell of it; what has not ended is put back when this goes.
class Completion {
 public:
  Completion(ProfiledCall& call, int count, const MPI_Request* requests)
      : call_(call), count_(count), requests_(requests) {
    if (call.lined()) take_out();
  }
  ~Completion() {
    if (!held_.empty()) put_back();
  }
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;

  // Those to give to the call where the program ignores them, which `ignored` says.
  MPI_Status* statuses(MPI_Status* given, const MPI_Status* ignored) {
    statuses_ = given;
    if (!held_.empty() && given == ignored) make_statuses();
    return statuses_;
  }
  // Request `index` of the call has ended; its status is the `status`-th.
  void ended(int index, int status);

 private:
  struct Held {
    int index;
    MPI_Request request;
    TimeLine::Open open;
    bool over = false;
  };
  void take_out();
  void put_back();
  void make_statuses();

  ProfiledCall& call_;
  const int count_;
  const MPI_Request* const requests_;
  std::vector<Held> held_;
  MPI_Status* statuses_ = nullptr;
  std::vector<MPI_Status> own_;
};

}  // namespace urakata::profile
