// SPDX-License-Identifier: BSD-3-Clause
#include "shim/requests/request.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/log.hpp"
#include "base/mutex.hpp"
#include "base/reserve.hpp"
#include "base/spin_lock.hpp"
#include "shim/native/native_library.hpp"
#include "shim/process/allocation_count.hpp"
#include "shim/requests/neighbour_exchange.hpp"
#include "shim/requests/staging.hpp"

namespace urakata::shim {

namespace {

constexpr std::uint32_t kFirst = 1U << 3;  // requests that are made first; then as many again as there are

struct Free {
  SpinLock lock;
  bool told URAKATA_GUARDED_BY(lock) = false;  // whether a message has said that there are no more
  Request* first URAKATA_GUARDED_BY(lock) = nullptr;
  std::byte* blocks URAKATA_GUARDED_BY(lock) = nullptr;  // behind pointer handles
};
Free& all_free() {
  static auto* made = new Free;
  return *made;
}

// Bytes of addresses that a request takes: its own, and the block behind its handle.
constexpr std::size_t kEach = sizeof(Request) + (kIntegerHandles ? 0 : RequestTable::kBlock);

// For how many requests to reserve addresses: for as many as there may ever be or, if addresses are limited (ulimit
// -v), for those that fit into a sixteenth of the limit, since the program needs most of it.
std::uint32_t room() {
  rlimit limit{};
  std::uint32_t most = RequestTable::kMost;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return most;
  while (most > kFirst && most * kEach > limit.rlim_cur / 16) most /= 2;
  return most;
}

// Addresses without access, so that they count for nothing where the kernel grants no more memory than there is
// (vm.overcommit_memory 2). nullptr: there are not as many.
std::byte* reserve(std::size_t bytes) {
  void* const range = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) return nullptr;
  madvise(range, bytes, MADV_NOHUGEPAGE);  // the first request would take 2 MiB
  return static_cast<std::byte*>(range);
}

// Reserves the addresses of a table that has none. False: the process has not enough.
bool make_room(Free& free) URAKATA_REQUIRES(free.lock) {
  RequestTable& t = request_table;
  std::byte* all = nullptr;
  for (t.most = room(); (all = reserve(t.most * kEach)) == nullptr; t.most /= 2) {
    if (t.most <= kFirst) return false;
  }
  t.requests = reinterpret_cast<Request*>(all);
  if constexpr (!kIntegerHandles) {
    free.blocks = all + t.most * sizeof(Request);
    t.range.store(t.most * RequestTable::kBlock, std::memory_order_relaxed);
    t.base.store(reinterpret_cast<std::uintptr_t>(free.blocks), std::memory_order_relaxed);
  }
  return true;
}

// Gives access to bytes `begin` to `end` of reserved addresses. False: there is no memory for them.
bool open_up(void* range, std::size_t begin, std::size_t end) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  begin = begin / page * page;
  end = (end + page - 1) / page * page;
  return mprotect(static_cast<std::byte*>(range) + begin, end - begin, PROT_READ | PROT_WRITE) == 0;
}

// Makes as many requests again as exist. The result is why it cannot, or nullptr.
const char* grow(Free& free) URAKATA_REQUIRES(free.lock) {
  RequestTable& t = request_table;
  const std::uint32_t before = t.made.load(std::memory_order_relaxed);
  if (t.requests == nullptr && !make_room(free)) return "the process has no addresses for them (ulimit -v)";
  if (before == t.most) {
    return t.most < RequestTable::kMost ? "the process has no addresses for more (ulimit -v)" : "there are no more";
  }
  count_allocation();
  const std::uint32_t after = std::max(2 * before, kFirst);
  bool opened = open_up(t.requests, before * sizeof(Request), after * sizeof(Request));
  if constexpr (!kIntegerHandles) {
    opened = opened && open_up(free.blocks, before * RequestTable::kBlock, after * RequestTable::kBlock);
  }
  if (!opened) return "there is no memory for more";
  for (std::uint32_t i = after; i-- > before;) {
    auto* const request = new (t.requests + i) Request;  // never destroyed: the program may use its handle again
    request->index = i;
    request->next = std::exchange(free.first, request);
    if constexpr (!kIntegerHandles) {
      auto* words = reinterpret_cast<std::int32_t*>(free.blocks + i * RequestTable::kBlock);
      std::fill_n(words, RequestTable::kBlock / sizeof *words, kFortranBase + static_cast<std::int32_t>(i));
    }
  }
  t.made.store(after, std::memory_order_release);
  return nullptr;
}

// The first of one list becomes the first of another.
void move_first(Request*& from, Request*& to) {
  Request* const moved = from;
  from = moved->next;
  moved->next = std::exchange(to, moved);
}

struct EndOfThread {
  bool expected = false;
  ~EndOfThread() {
    while (kept_requests.first != nullptr) store_requests();
  }
};
thread_local EndOfThread end_of_thread;

}  // namespace

constinit RequestTable request_table;
constinit SpinLock ending_lock;

constinit thread_local KeptRequests kept_requests;

void expect_end_of_thread() { end_of_thread.expected = true; }

bool fetch_requests() {
  constexpr std::uint32_t kFetched = 8;
  expect_end_of_thread();
  KeptRequests& kept = kept_requests;
  Free& free = all_free();
  const LockGuard guard(free.lock);
  const char* why = reserve::enough() ? nullptr : "the process has no memory";
  if (why == nullptr && free.first == nullptr) why = grow(free);
  if (why != nullptr) {
    if (!std::exchange(free.told, true)) {
      log::error("%u requests of Urakata are in use at once and %s: what needs one ends with MPI_ERR_NO_MEM",
                 request_table.made.load(std::memory_order_relaxed), why);
    }
    return false;
  }
  for (; kept.count < kFetched && free.first != nullptr; ++kept.count) move_first(free.first, kept.first);
  return true;
}

void store_requests() {
  KeptRequests& kept = kept_requests;
  Free& free = all_free();
  const LockGuard guard(free.lock);
  for (std::uint32_t moved = 0; moved < KeptRequests::kMost / 2 && kept.first != nullptr; ++moved, --kept.count) {
    move_first(kept.first, free.first);
  }
}

MPI_Request finished_send() {
  static std::atomic<Request*> made{nullptr};
  if (const Request* request = made.load(std::memory_order_acquire); request != nullptr) return request->handle();
  if (!have_request()) {  // the MPI library's request of a send to MPI_PROC_NULL serves as well
    MPI_Request theirs = MPI_REQUEST_NULL;
    native.Isend(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &theirs);
    return theirs;
  }
  Request* request = make_request();
  request->type = RequestType::finished_send;
  request->active = true;
  Request* first = nullptr;
  if (made.compare_exchange_strong(first, request, std::memory_order_acq_rel)) return request->handle();
  request->type = RequestType::none;  // another thread was first
  request->active = false;
  give_request_back(*request);
  return first->handle();
}

void clear_request(Request& request) {
  request.operations().clear(request);
  request.type = RequestType::none;
  request.staging.reset();
  request.persistent = false;
  request.active = false;
}

void destroy_request(Request* request) {
  if (request->type == RequestType::finished_send) return;
  clear_request(*request);
  give_request_back(*request);
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
