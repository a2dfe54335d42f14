// SPDX-License-Identifier: BSD-3-Clause
#include "shim/messages/native_send.hpp"

#include <climits>
#include <vector>

#include "base/mutex.hpp"
#include "shim/communicators/error_handler.hpp"
#include "shim/native/large_count.hpp"
#include "shim/native/native_library.hpp"
#include "shim/native/without_memory.hpp"
#include "shim/types/datatype.hpp"

namespace urakata::shim {

namespace {

struct Detached {
  Mutex lock;
  std::vector<std::unique_ptr<NativeSend>> sends URAKATA_GUARDED_BY(lock);
};

Detached& detached() {
  static auto* the = new Detached;
  return *the;
}

}  // namespace

int NativeSend::start(const void* address, std::int64_t count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
#if defined(URAKATA_LARGE_COUNTS)
  if (count > INT_MAX) return native.Isend_c(address, count, type, dest, tag, comm, &request_);
#endif
  return native.Isend(address, static_cast<int>(count), type, dest, tag, comm, &request_);
}

int NativeSend::start_copy(const void* address, std::int64_t count, MPI_Datatype type, int dest, int tag,
                           MPI_Comm comm) {
  const Datatype* layout = count > 0 ? datatype(type) : nullptr;
  if (layout == nullptr) return start(address, count, type, dest, tag, comm);  // nothing to copy, or to be refused
  const auto elements = static_cast<std::uint64_t>(count);
  const std::uint64_t bytes = elements * layout->size;
  const int allocated = or_no_memory([&] {
    copy_ = std::make_unique<std::byte[]>(bytes);
    return int{MPI_SUCCESS};
  });
  if (allocated != MPI_SUCCESS) return ErrorTarget{comm}.tell(allocated);
  layout->pack(static_cast<const std::byte*>(address), 0, elements, copy_.get());
  if (bytes <= INT_MAX) return start(copy_.get(), static_cast<std::int64_t>(bytes), MPI_PACKED, dest, tag, comm);
  const LargeCount large(bytes);
  return start(copy_.get(), 1, large.type, dest, tag, comm);
}

int NativeSend::finish() { return native.Wait(&request_, MPI_STATUS_IGNORE); }

void NativeSend::detach(std::unique_ptr<NativeSend> send) {
  const LockGuard guard(detached().lock);
  std::erase_if(detached().sends, [](const auto& before) {
    int done = 0;
    native.Test(&before->request_, &done, MPI_STATUS_IGNORE);
    return done != 0;
  });
  detached().sends.push_back(std::move(send));
}

void NativeSend::finish_detached() {
  const LockGuard guard(detached().lock);
  for (const auto& send : detached().sends) send->finish();
  detached().sends.clear();
}

}  // namespace urakata::shim
