// SPDX-License-Identifier: BSD-3-Clause
// Beginning and end of the process's profile (MPI_Init, MPI_Finalize), and the calls in between.
#include <dlfcn.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/options/options.hpp"
#include "base/preload_env.hpp"
#include "observe/call_profile.hpp"
#include "observe/profile_link.hpp"
#include "observe/python.hpp"
#include "profile/behind.hpp"
#include "profile/open_call.hpp"
#include "profile/profiled_call.hpp"

namespace urakata::profile {

namespace {

using observe::CallProfile;
using observe::ProfileLink;

// Finds the shim, which urakata-exec preloads together with this library. Aborts the process if it is not loaded.
const ProfileLink& look_behind() {
  using Ask = const ProfileLink* (*)();
  const auto ask = reinterpret_cast<Ask>(dlsym(RTLD_DEFAULT, observe::kProfileLink));
  if (ask != nullptr) return *ask();
  log::error("the library of the profile is loaded without liburakata-%s.so; run the program by urakata-exec",
             shim::kAbi);
  std::abort();
}

}  // namespace

std::atomic<TimeLine*> time_line{nullptr};  // set before `profile`

const ProfileLink& behind() {
  static const ProfileLink& link = look_behind();
  return link;
}

namespace {

observe::ProfiledThread& own_thread() {
  static constinit thread_local observe::ProfiledThread* own = nullptr;
  if (own == nullptr) own = behind().thread();
  return *own;
}

// The process's profile. nullptr before MPI_Init has returned, from MPI_Finalize on, and if there is no report. The
// object is never deleted, since other threads may be in a call during MPI_Finalize.
std::atomic<CallProfile*> profile{nullptr};
// 1 while the program is in a call with Function::waits. The thread that began or ended such a call last has set it.
alignas(64) std::atomic<std::uint32_t> waiting{0};

void begin_line(const CallProfile::Rank& rank) {
  auto made = observe::CallEvents::create(std::string(options().report), rank.rank, rank.ranks);
  if (made.ok()) {
    time_line.store(new TimeLine(std::move(*made)), std::memory_order_release);
  } else {
    log::warning("%s; the report will have no time line of MPI calls", made.error().message.c_str());
  }
}

void begin() {
  if (!behind().reported()) return;
  CallProfile::Rank rank;
  int number = 0;
  int ranks = 1;
  behind().rank(&number, &ranks);
  rank.rank = static_cast<std::uint32_t>(number);
  rank.ranks = static_cast<std::uint32_t>(ranks);
  rank.job = behind().job();
  rank.program = behind().program();
  rank.file = behind().file();
  auto made = CallProfile::create(std::string(options().report), rank);
  if (made.ok()) {
    behind().waiting(waiting);
    if (options().timeline) begin_line(rank);  // after create(), which deletes the time line of an earlier run
    profile.store(made->release(), std::memory_order_release);
  } else {
    log::warning("%s; the report will not tell of all MPI calls", made.error().message.c_str());
  }
}

}  // namespace

ProfiledCall::ProfiledCall(Function& function, const void* address)
    : function_(function), address_(address), thread_(own_thread()) {
  // A call inside another one lies further down the stack. If not, an error handler has left the other one by longjmp.
  const bool inside = thread_.caller != nullptr && static_cast<const void*>(this) < thread_.frame;
  before_ = inside ? thread_.caller : nullptr;
  before_begin_ = inside ? thread_.begin : 0;
  thread_.caller = address;
  thread_.begin = 0;  // the shim reads the clock itself for calls that the profile does not note
  thread_.end = 0;
  if (inside) return;
  thread_.frame = this;
  CallProfile* const to = profile.load(std::memory_order_acquire);
  if (to == nullptr) return;
  record_ = &to->record({function.name, address});
  line_ = time_line.load(std::memory_order_acquire);
  begin_ = now_ns();
  thread_.begin = begin_;
  to->enter(*record_, begin_);
  if (observe::from_python(address)) note_python_call(profile, function.name, address, begin_);
  if (function.waits) waiting.store(1, std::memory_order_relaxed);
}

bool ProfiledCall::ended() {
  if (record_ == nullptr) return false;
  if (thread_.end == 0) thread_.end = now_ns();
  return true;
}

ProfiledCall::~ProfiledCall() {
  if (ended()) {
    if (observe::from_python(address_)) end_python_call(begin_);
    if (CallProfile* const to = profile.load(std::memory_order_acquire)) {
      // The line is read after the call, not before it: see python_line().
      if (const observe::PythonLine* const line = observe::python_line(address_)) {
        record_ = &to->record({function_.name, address_, line});
      }
      to->leave(*record_, begin_, thread_.end, bytes_);
      if (lined() && !in_vain_) add_to_line(to->number_of(*record_));
      thread_.past += thread_.end - begin_;
      if (function_.waits) waiting.store(0, std::memory_order_relaxed);
    }
  }
  thread_.caller = before_;
  thread_.begin = before_begin_;
  thread_.end = 0;
}

void ProfiledCall::add_to_line(std::uint32_t record) {
  line([&](TimeLine& line) {
    if (collective_) {
      line.called(record, begin_, thread_.end, *collective_, bytes_ != 0);
    } else {
      line.called(record, begin_, thread_.end);
    }
  });
}

void* ProfiledCall::look_up() {
  void* const found = behind().find(function_.name);
  function_.next.store(found, std::memory_order_relaxed);
  return found;
}

std::uint64_t bytes_of(MPI_Count count, MPI_Datatype type) {
  static const auto type_size = find<int (*)(MPI_Datatype, MPI_Count*)>("Type_size_x");
  MPI_Count size = 0;
  type_size(type, &size);
  return size > 0 ? static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size) : 0;
}

std::uint64_t ranks_of(MPI_Comm comm) {
  using Ask = int (*)(MPI_Comm, int*);
  static const auto size = find<Ask>("Comm_size");
  static const auto remote_size = find<Ask>("Comm_remote_size");
  static const auto is_inter = find<Ask>("Comm_test_inter");
  int inter = 0;
  int ranks = 0;
  is_inter(comm, &inter);
  (inter != 0 ? remote_size : size)(comm, &ranks);
  return static_cast<std::uint64_t>(ranks);
}

}  // namespace urakata::profile

using namespace urakata::profile;

namespace {

// Programs that the rank starts (a shell, a tool) are not to be profiled.
__attribute__((constructor)) void loaded() { urakata::forget_preload(); }

}  // namespace

extern "C" {

URAKATA_EXPORT int MPI_Init(int* argc, char*** argv) {
  const int code = find<int (*)(int*, char***)>("Init")(argc, argv);
  if (code == MPI_SUCCESS) begin();
  return code;
}

URAKATA_EXPORT int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int code = find<int (*)(int*, char***, int, int*)>("Init_thread")(argc, argv, required, provided);
  if (code == MPI_SUCCESS) begin();
  return code;
}

URAKATA_EXPORT int MPI_Finalize() {
  if (urakata::observe::CallProfile* const whole = profile.exchange(nullptr, std::memory_order_acq_rel)) {
    const auto written = whole->finish(urakata::now_ns());
    if (!written.ok()) urakata::log::warning("%s", written.error().message.c_str());
  }
  return find<int (*)()>("Finalize")();
}

URAKATA_EXPORT int MPI_Abort(MPI_Comm comm, int code) {
  if (auto* const partial = profile.load(std::memory_order_acquire)) {
    partial->enter(partial->record({"Abort", __builtin_return_address(0)}), urakata::now_ns());
    partial->aborted();
  }
  return find<int (*)(MPI_Comm, int)>("Abort")(comm, code);
}

int PMPI_Init(int*, char***) __attribute__((alias("MPI_Init"), visibility("default")));
int PMPI_Init_thread(int*, char***, int, int*) __attribute__((alias("MPI_Init_thread"), visibility("default")));
int PMPI_Finalize() __attribute__((alias("MPI_Finalize"), visibility("default")));
int PMPI_Abort(MPI_Comm, int) __attribute__((alias("MPI_Abort"), visibility("default")));

}  // extern "C"
