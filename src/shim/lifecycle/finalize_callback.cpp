// SPDX-License-Identifier: BSD-3-Clause
#include "shim/lifecycle/finalize_callback.hpp"

#include <algorithm>
#include <cstdint>
#include <list>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "base/progress_thread.hpp"
#include "shim/native/entries.hpp"
#include "shim/native/native_library.hpp"

namespace urakata::shim {

namespace {

using End = void (*)();
constinit End at_end = nullptr;                 // nullptr before it is set, and once it was called
constinit int code_of_deletions = MPI_SUCCESS;  // the last error of delete_attributes_of_self()

void end_once() {
  if (const End end = std::exchange(at_end, nullptr)) end();
}

int leave_out_of_copy(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

// Our own delete callback. Returns the error that delete_attributes_of_self() held back, for MPI_Finalize to report.
int deleted(MPI_Comm, int, void*, void*) {
  end_once();
  return code_of_deletions;
}

// The program's functions of a keyval, behind ours.
struct Functions {
  MPI_Comm_copy_attr_function* copy;
  MPI_Comm_delete_attr_function* erase;
  void* extra;
  bool operator==(const Functions&) const = default;
};

struct Keys {
  Mutex lock;
  // Each once, and never removed: MPI does not tell when the last attribute of a keyval is gone.
  std::list<Functions> functions URAKATA_GUARDED_BY(lock);
  std::vector<int> ours URAKATA_GUARDED_BY(lock);  // keyvals whose functions are ours
  std::vector<int> of_self
      URAKATA_GUARDED_BY(lock);  // of these: set on MPI_COMM_SELF, in this order; some may have been deleted since
};
Keys& keys() {
  static auto* made = new Keys;
  return *made;
}

// Whether the program is in an MPI_Finalize that calls no further callback once one has returned an error.
constinit bool error_ends_callbacks = false;
constinit int being_deleted = MPI_KEYVAL_INVALID;  // by delete_attributes_of_self()

int copy_attribute(MPI_Comm comm, int key, void* extra, void* value, void* copied, int* flag) {
  const auto& of = *static_cast<const Functions*>(extra);
  return of.copy(comm, key, of.extra, value, copied, flag);
}

int delete_attribute(MPI_Comm comm, int key, void* value, void* extra) {
  const auto& of = *static_cast<const Functions*>(extra);
  const int code = of.erase(comm, key, value, of.extra);
  if (comm != MPI_COMM_SELF || code == MPI_SUCCESS) return code;
  if (key == being_deleted) {  // after an error MPICH would keep the attribute, and call the function again
    code_of_deletions = code;
    return MPI_SUCCESS;
  }
  if (error_ends_callbacks) end_once();
  return code;
}

// Whether this is a function, and not one of the small numbers that stand for MPI_COMM_NULL_COPY_FN and its like.
template <class Function>
bool is_function(Function* function) {
  return reinterpret_cast<std::uintptr_t>(function) > 0xff;
}

int create_keyval(const Functions& of, int* key) {
  Keys& all = keys();
  Functions* kept = nullptr;
  {
    const LockGuard guard(all.lock);
    const auto found = std::ranges::find(all.functions, of);
    kept = found != all.functions.end() ? &*found : &all.functions.emplace_back(of);
  }
  const int code = native.Comm_create_keyval(is_function(of.copy) ? copy_attribute : of.copy,
                                             is_function(of.erase) ? delete_attribute : of.erase, key, kept);
  if (code == MPI_SUCCESS) {
    const LockGuard guard(all.lock);
    std::erase(all.ours, *key);
    all.ours.push_back(*key);
  }
  return code;
}

void note_key_of_self(int key) {
  Keys& all = keys();
  const LockGuard guard(all.lock);
  std::erase(all.of_self, key);
  if (std::ranges::count(all.ours, key) != 0) all.of_self.push_back(key);
}

// Takes the keyval that was set last on MPI_COMM_SELF out of the list; MPI_KEYVAL_INVALID: none is left.
int take_key_of_self() {
  const LockGuard guard(keys().lock);
  std::vector<int>& all = keys().of_self;
  if (all.empty()) return MPI_KEYVAL_INVALID;
  const int key = all.back();
  all.pop_back();
  return key;
}

// Whether MPI_COMM_SELF has an attribute of this keyval. The program may have freed the keyval: then it has none.
bool has_attribute(int key) {
  MPI_Errhandler handler{};
  if (native.Comm_get_errhandler(MPI_COMM_SELF, &handler) != MPI_SUCCESS) return false;
  native.Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  void* value = nullptr;
  int found = 0;
  const int code = native.Comm_get_attr(MPI_COMM_SELF, key, &value, &found);
  native.Comm_set_errhandler(MPI_COMM_SELF, handler);
  native.Errhandler_free(&handler);
  return code == MPI_SUCCESS && found != 0;
}

bool finalized() {
  int flag = 0;
  native.Finalized(&flag);
  return flag != 0;
}

// Open MPI's progress loop calls this. It ends Urakata after a failed callback without delete_attribute() in front of
// it (Fortran's). Open MPI then calls no further callback, but waits for the other ranks: MPI_Finalized is true, and
// calls still work. If all ranks are in MPI_Finalize already, that wait may end before this is called.
int end_after_failed_callback() {
  if (at_end != nullptr && !on_progress_thread && finalized()) end_once();
  return 0;
}

}  // namespace

bool set_finalize_callback(void (*end)()) {
  int key = MPI_KEYVAL_INVALID;
  if (native.Comm_create_keyval(leave_out_of_copy, deleted, &key, nullptr) != MPI_SUCCESS) return false;
  const bool set = native.Comm_set_attr(MPI_COMM_SELF, key, nullptr) == MPI_SUCCESS;
  native.Comm_free_keyval(&key);  // the attribute keeps it
  if (set) at_end = end;
  return set;
}

void delete_attributes_of_self() {
  auto* const delete_one = reinterpret_cast<decltype(&PMPI_Comm_delete_attr)>(native_symbol("PMPI_Comm_delete_attr"));
  if (delete_one == nullptr) return;
  for (int key = take_key_of_self(); key != MPI_KEYVAL_INVALID; key = take_key_of_self()) {
    being_deleted = key;
    if (has_attribute(key)) delete_one(MPI_COMM_SELF, key);
  }
  being_deleted = MPI_KEYVAL_INVALID;
}

int finalize_with_callback() {
  const bool hook = native.progress_register != nullptr;
  if (hook) native.progress_register(end_after_failed_callback);
  error_ends_callbacks = hook;
  const int code = native.Finalize();
  error_ends_callbacks = false;
  // If the program has a session, MPICH calls the callbacks only in a later MPI_Session_finalize. Its library works
  // until then, so Urakata ends now.
  if (!hook && finalized()) end_once();
  // From here on nothing of ours may run, also where the library has left our callback out.
  at_end = nullptr;
  if (hook && native.progress_unregister != nullptr) native.progress_unregister(end_after_failed_callback);
  return code;
}

}  // namespace urakata::shim

extern "C" {

using namespace urakata::shim;

// The MPI library gets functions of ours, which call the program's.
URAKATA_EXPORT int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* erase,
                                          int* key, void* extra) {
  need_native();
  if (key == nullptr || inside_native(__builtin_return_address(0))) {
    return native.Comm_create_keyval(copy, erase, key, extra);
  }
  return create_keyval({copy, erase, extra}, key);
}

URAKATA_EXPORT int MPI_Comm_set_attr(MPI_Comm comm, int key, void* value) {
  need_native();
  const int code = native.Comm_set_attr(comm, key, value);
  // The MPI library sets some attributes for itself (MPI-IO).
  if (code == MPI_SUCCESS && comm == MPI_COMM_SELF && !inside_native(__builtin_return_address(0)))
    note_key_of_self(key);
  return code;
}

int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function*, MPI_Comm_delete_attr_function*, int*, void*)
    URAKATA_ALIAS(MPI_Comm_create_keyval);
int PMPI_Comm_set_attr(MPI_Comm, int, void*) URAKATA_ALIAS(MPI_Comm_set_attr);

}  // extern "C"
