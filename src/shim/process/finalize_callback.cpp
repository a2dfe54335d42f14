#include "shim/process/finalize_callback.hpp"

#include <mutex>
#include <utility>
#include <vector>

#include "base/helper_thread.hpp"
#include "shim/entries.hpp"
#include "shim/native/host.hpp"

namespace urakata::shim {

namespace {

using End = void (*)();
constinit End at_end = nullptr;  // nullptr once it was called

void end_once() {
  if (const End end = std::exchange(at_end, nullptr)) end();
}

int leave_out_of_copy(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

int deleted(MPI_Comm, int, void*, void*) {
  end_once();
  return MPI_SUCCESS;
}

// That were set on MPI_COMM_SELF, in this order; some may have been deleted since.
struct KeysOfSelf {
  std::mutex lock;
  std::vector<int> all;
};
KeysOfSelf& keys_of_self() {
  static auto* made = new KeysOfSelf;
  return *made;
}

void note_key_of_self(int key) {
  const std::lock_guard guard(keys_of_self().lock);
  std::erase(keys_of_self().all, key);
  keys_of_self().all.push_back(key);
}

// The last one; MPI_KEYVAL_INVALID: there are none left.
int take_key_of_self() {
  const std::lock_guard guard(keys_of_self().lock);
  std::vector<int>& all = keys_of_self().all;
  if (all.empty()) return MPI_KEYVAL_INVALID;
  const int key = all.back();
  all.pop_back();
  return key;
}

// Has MPI_COMM_SELF an attribute of this key, which may be none any more?
bool has_attribute(int key) {
  MPI_Errhandler handler{};
  if (host.Comm_get_errhandler(MPI_COMM_SELF, &handler) != MPI_SUCCESS) return false;
  host.Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  void* value = nullptr;
  int found = 0;
  const int code = host.Comm_get_attr(MPI_COMM_SELF, key, &value, &found);
  host.Comm_set_errhandler(MPI_COMM_SELF, handler);
  host.Errhandler_free(&handler);
  return code == MPI_SUCCESS && found != 0;
}

bool finalized() {
  int flag = 0;
  host.Finalized(&flag);
  return flag != 0;
}

// Open MPI calls no further callback once one of the program's has returned an error. It then waits for the other ranks
// and still allows all calls, while its progress loop calls this.
int end_after_failed_callback() {
  if (at_end != nullptr && !on_helper_thread && finalized()) end_once();
  return 0;
}

}  // namespace

bool set_finalize_callback(void (*end)()) {
  int key = MPI_KEYVAL_INVALID;
  if (host.Comm_create_keyval(leave_out_of_copy, deleted, &key, nullptr) != MPI_SUCCESS) return false;
  const bool set = host.Comm_set_attr(MPI_COMM_SELF, key, nullptr) == MPI_SUCCESS;
  host.Comm_free_keyval(&key);  // the attribute keeps it
  if (set) at_end = end;
  return set;
}

void delete_attributes_of_self() {
  auto* const delete_attribute =
      reinterpret_cast<decltype(&PMPI_Comm_delete_attr)>(host_symbol("PMPI_Comm_delete_attr"));
  if (delete_attribute == nullptr) return;
  for (int key = take_key_of_self(); key != MPI_KEYVAL_INVALID; key = take_key_of_self()) {
    if (has_attribute(key)) delete_attribute(MPI_COMM_SELF, key);
  }
}

int finalize_with_callback() {
  const bool hook = host.progress_register != nullptr;
  if (hook) host.progress_register(end_after_failed_callback);
  const int code = host.Finalize();
  // MPICH calls the callbacks in a later MPI_Session_finalize where the program has a session. Its library stays until
  // then, so the end need not wait.
  if (!hook && finalized()) end_once();
  // From here on nothing of ours may run, also where the library has left our callback out.
  at_end = nullptr;
  if (hook && host.progress_unregister != nullptr) host.progress_unregister(end_after_failed_callback);
  return code;
}

}  // namespace urakata::shim

extern "C" {

using namespace urakata::shim;

URAKATA_EXPORT int MPI_Comm_set_attr(MPI_Comm comm, int key, void* value) {
  need_host();
  const int code = host.Comm_set_attr(comm, key, value);
  // The MPI library sets some for itself (MPI-IO).
  if (code == MPI_SUCCESS && comm == MPI_COMM_SELF && !inside_host(__builtin_return_address(0))) note_key_of_self(key);
  return code;
}

int PMPI_Comm_set_attr(MPI_Comm, int, void*) URAKATA_ALIAS(MPI_Comm_set_attr);

}  // extern "C"
