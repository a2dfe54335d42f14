// SPDX-License-Identifier: BSD-3-Clause
// Tells the time line which receives a call has completed (MPI_Wait, MPI_Test and their kin).
//
// Thread-safety: an object is used by the thread that makes the call.
#pragma once

#include <vector>

#include "profile/profiled_call.hpp"
#include "profile/time_line.hpp"
#include "shim/native/abi.hpp"

namespace urakata::profile {

// Exists around a call that may complete requests. The constructor takes the records of active receives out of the time
// line before the call. After the call it would be too late: another thread may already have got the handle of a
// completed request. The destructor puts back the records of requests that still exist. Without a time line the object
// does nothing.
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

  // The statuses to pass to the call: `given`, or statuses of our own if the program ignores them (`given` equals
  // `ignored`) and the time line needs them.
  MPI_Status* statuses(MPI_Status* given, const MPI_Status* ignored) {
    statuses_ = given;
    if (!held_.empty() && given == ignored) make_statuses();
    return statuses_;
  }
  // The call has completed request `index`, whose status is at position `status` of statuses().
  void ended(int index, int status);

 private:
  // A record that was taken out of the time line. `over`: whether its receive has completed.
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
