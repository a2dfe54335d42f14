#include "shim/left_types.hpp"

#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "shim/host.hpp"

namespace urakata::shim {

namespace {

struct Left {
  std::mutex lock;  // helpers run, too, where the program has one thread
  std::vector<MPI_Datatype> types;
};
Left& left() {
  static auto* made = new Left;
  return *made;
}

}  // namespace

constinit std::atomic<bool> types_left{false};

void leave_type(MPI_Datatype handle) try {
  const std::lock_guard guard(left().lock);
  left().types.push_back(handle);
  types_left.store(true, std::memory_order_relaxed);
} catch (const std::bad_alloc&) {
  return;  // the host keeps it until MPI_Finalize
}

void free_types_that_are_left() {
  std::vector<MPI_Datatype> types;
  {
    const std::lock_guard guard(left().lock);
    types.swap(left().types);
    types_left.store(false, std::memory_order_relaxed);
  }
  for (MPI_Datatype& handle : types) host.Type_free(&handle);
}

}  // namespace urakata::shim
