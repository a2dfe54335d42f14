#include "shim/request.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <new>

#include "base/log.hpp"
#include "shim/spin_lock.hpp"

namespace urakata::shim {

namespace {

constexpr std::uint32_t kFirst = 1U << 3;  // requests that are made first; then as many again as there are

struct Free {
  SpinLock lock;
  std::vector<std::uint32_t> indices;
  std::byte* blocks = nullptr;  // behind pointer handles
};
Free& all_free() {
  static auto* made = new Free;
  return *made;
}

// Addresses for as many as there may ever be. Without access, so that they count for nothing where the kernel grants no
// more memory than there is (vm.overcommit_memory 2).
void* reserve(std::size_t bytes) {
  void* const range = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) {
    log::error("cannot reserve %zu MiB of addresses for requests; is the address space limited (ulimit -v)?",
               bytes >> 20U);
    std::abort();
  }
  madvise(range, bytes, MADV_NOHUGEPAGE);  // the first request would take 2 MiB
  return range;
}

// Bytes from `begin` to `end` of what was reserved are used from now on.
void open_up(void* range, std::size_t begin, std::size_t end) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  begin = begin / page * page;
  end = (end + page - 1) / page * page;
  if (mprotect(static_cast<std::byte*>(range) + begin, end - begin, PROT_READ | PROT_WRITE) == 0) return;
  log::error("no memory for further requests");
  std::abort();
}

// Under the lock.
void grow(Free& free) {
  RequestTable& t = request_table;
  const std::uint32_t before = t.made.load(std::memory_order_relaxed);
  if (before == RequestTable::kMost) {
    log::error("more than %u requests of Urakata in use at once in one process", RequestTable::kMost);
    std::abort();
  }
  count_allocation();
  if (t.requests == nullptr) {
    t.requests = static_cast<Request*>(reserve(std::size_t{RequestTable::kMost} * sizeof(Request)));
    if constexpr (!kIntegerHandles) {
      free.blocks = static_cast<std::byte*>(reserve(std::size_t{RequestTable::kMost} * RequestTable::kBlock));
      t.base.store(reinterpret_cast<std::uintptr_t>(free.blocks), std::memory_order_relaxed);
    }
  }
  const std::uint32_t after = std::max(2 * before, kFirst);
  open_up(t.requests, before * sizeof(Request), after * sizeof(Request));
  if constexpr (!kIntegerHandles) {
    open_up(free.blocks, before * RequestTable::kBlock, after * RequestTable::kBlock);
  }
  for (std::uint32_t i = before; i < after; ++i) {
    (new (t.requests + i) Request)->index = i;  // never ended: its handle may still be asked about
    if constexpr (!kIntegerHandles) {
      auto* words = reinterpret_cast<std::int32_t*>(free.blocks + i * RequestTable::kBlock);
      std::fill_n(words, RequestTable::kBlock / sizeof *words, kFortranBase + static_cast<std::int32_t>(i));
    }
  }
  t.made.store(after, std::memory_order_release);
  free.indices.reserve(after);
  for (std::uint32_t i = after; i-- > before;) free.indices.push_back(i);
}

// Free requests that a thread keeps for itself, so that it seldom needs the table's lock.
class Kept {
 public:
  ~Kept() { give(count_); }

  std::uint32_t take() {
    if (count_ == 0) fetch();
    return indices_[--count_];
  }
  void put(std::uint32_t index) {
    if (count_ == indices_.size()) give(kMoved);
    indices_[count_++] = index;
  }

 private:
  static constexpr std::uint32_t kMoved = 8;  // at a time

  void fetch() {
    Free& free = all_free();
    const std::lock_guard guard(free.lock);
    if (free.indices.empty()) grow(free);
    for (; count_ < kMoved && !free.indices.empty(); free.indices.pop_back()) indices_[count_++] = free.indices.back();
  }
  void give(std::uint32_t count) {
    if (count == 0) return;
    Free& free = all_free();
    const std::lock_guard guard(free.lock);
    for (; count != 0; --count) free.indices.push_back(indices_[--count_]);
  }

  std::array<std::uint32_t, std::size_t{2} * kMoved> indices_{};
  std::uint32_t count_ = 0;
};

thread_local Kept kept;

void clear_collective(Request& request) {
  for (const Datatype* type : request.types) type->release();
  request.types.clear();
  if (request.reducer) {
    request.reducer->operation->release();
    request.reducer.reset();
  }
  if (request.run != nullptr) {
    request.run->prepared.give(request.run);
    request.run = nullptr;
  }
  if (request.communicator != nullptr) {
    request.communicator->release();
    request.communicator = nullptr;
  }
  request.site = nullptr;
}

}  // namespace

constinit RequestTable request_table;

MPI_Request Request::handle() const {
  MPI_Request value{};
  const std::uintptr_t number =
      request_table.base.load(std::memory_order_relaxed) + (kIntegerHandles ? index : index * RequestTable::kBlock);
  std::memcpy(&value, &number, sizeof value);
  return value;
}

Request* make_request() {
  const std::uint32_t index = kept.take();
  return request_table.requests + index;
}

MPI_Request finished_send() {
  static const MPI_Request handle = [] {
    Request* request = make_request();
    request->shared = request->active = true;
    return request->handle();
  }();
  return handle;
}

void destroy_request(Request* request) {
  if (request->shared) return;
  if (request->is_message()) {
    if (request->message.letter.type != nullptr) request->message.letter.type->release();
    request->message.letter.circle->release();
    request->message.clear();
  } else {
    clear_collective(*request);
  }
  request->persistent = false;
  request->active = false;
  kept.put(request->index);
}

static_assert(sizeof(MPI_Message) == sizeof(MPI_Request));

MPI_Message message_of(const Request& request) {
  const MPI_Request handle = request.handle();
  MPI_Message message{};
  std::memcpy(&message, &handle, sizeof message);
  return message;
}

Request* holder_of(MPI_Message message) {
  MPI_Request handle{};
  std::memcpy(&handle, &message, sizeof handle);
  Request* request = is_ours(handle) ? find_request(handle) : nullptr;
  return request != nullptr && request->message.matched != nullptr ? request : nullptr;
}

bool is_fortran_of_ours(std::int32_t integer) {
  return integer >= kFortranBase && integer < kFortranBase + static_cast<std::int32_t>(RequestTable::kMost);
}

MPI_Request request_of_fortran(std::int32_t integer) {
  const auto index = static_cast<std::uint32_t>(integer - kFortranBase);
  if (index >= request_table.made.load(std::memory_order_acquire)) return MPI_REQUEST_NULL;
  return request_table.requests[index].handle();
}

}  // namespace urakata::shim
