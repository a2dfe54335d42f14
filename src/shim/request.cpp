#include "shim/request.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <mutex>

#include "base/log.hpp"
#include "shim/handle_map.hpp"
#include "shim/spin_lock.hpp"

namespace urakata::shim {

namespace {

constexpr std::uint32_t kMost = 1U << 22;  // requests in use at once
constexpr std::uint32_t kFirst = 1U << 4;  // requests of the first chunk; each further one doubles them all
constexpr std::size_t kBlock = 256;        // bytes behind a pointer handle
constexpr std::uint32_t kMpichPattern =
    0x2c000000;  // kind "invalid", type "request"; 0 in the rest is MPI_REQUEST_NULL

struct Table {
  SpinLock lock;
  std::array<std::atomic<Request*>, std::bit_width(kMost / kFirst)> chunks{};
  std::uint32_t made = 0;
  std::vector<std::uint32_t> free;
  std::uintptr_t base = 0;  // of pointer handles

  static std::uint32_t chunk_of(std::uint32_t index) {
    return static_cast<std::uint32_t>(std::bit_width(index / kFirst));
  }
  static std::uint32_t first_of(std::uint32_t chunk) { return chunk == 0 ? 0 : kFirst << (chunk - 1); }

  bool is_made(std::uint32_t index) const { return chunks[chunk_of(index)].load(std::memory_order_acquire) != nullptr; }
  Request& at(std::uint32_t index) {
    const std::uint32_t chunk = chunk_of(index);
    return chunks[chunk].load(std::memory_order_acquire)[index - first_of(chunk)];
  }
};

Table& table() {
  static auto* made = [] {
    auto* t = new Table;
    if constexpr (!kIntegerHandles) {
      void* range = mmap(nullptr, std::size_t{kMost} * kBlock, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (range == MAP_FAILED) {
        log::error("cannot reserve 1 GiB of addresses for request handles; is the address space limited (ulimit -v)?");
        std::abort();
      }
      madvise(range, std::size_t{kMost} * kBlock, MADV_NOHUGEPAGE);  // the first request would take 2 MiB
      t->base = reinterpret_cast<std::uintptr_t>(range);
    }
    return t;
  }();
  return *made;
}

// Under the table's lock.
void grow(Table& t) {
  if (t.made == kMost) {
    log::error("more than %u non-blocking collectives in progress at once in one process", kMost);
    std::abort();
  }
  count_allocation();
  const std::uint32_t more = std::max(t.made, kFirst);
  auto* chunk = new Request[more];  // never freed: handles into it may still be asked about
  for (std::uint32_t i = 0; i < more; ++i) {
    chunk[i].index = t.made + i;
    if constexpr (!kIntegerHandles) {
      auto* words = reinterpret_cast<std::int32_t*>(t.base + std::size_t{t.made + i} * kBlock);
      for (std::size_t w = 0; w < kBlock / sizeof *words; ++w)
        words[w] = kFortranBase + static_cast<std::int32_t>(t.made + i);
    }
  }
  t.chunks[Table::chunk_of(t.made)].store(chunk, std::memory_order_release);
  t.made += more;
  t.free.reserve(t.made);
  for (std::uint32_t i = 0; i < more; ++i) t.free.push_back(t.made - 1 - i);
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
    Table& t = table();
    const std::lock_guard guard(t.lock);
    if (t.free.empty()) grow(t);
    for (; count_ < kMoved && !t.free.empty(); t.free.pop_back()) indices_[count_++] = t.free.back();
  }
  void give(std::uint32_t count) {
    if (count == 0) return;
    Table& t = table();
    const std::lock_guard guard(t.lock);
    for (; count != 0; --count) t.free.push_back(indices_[--count_]);
  }

  std::array<std::uint32_t, std::size_t{2} * kMoved> indices_{};
  std::uint32_t count_ = 0;
};

thread_local Kept kept;

}  // namespace

MPI_Request Request::handle() const {
  MPI_Request value{};
  const std::uintptr_t number =
      kIntegerHandles ? std::uintptr_t{kMpichPattern} + 1 + index : table().base + std::size_t{index} * kBlock;
  std::memcpy(&value, &number, sizeof value);
  return value;
}

Request* make_request() { return &table().at(kept.take()); }

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
  for (const Datatype* type : request->types) type->release();
  request->types.clear();
  if (request->reducer) {
    request->reducer->operation->release();
    request->reducer.reset();
  }
  if (request->run != nullptr) {
    request->run->prepared.give(request->run);
    request->run = nullptr;
  }
  if (request->communicator != nullptr) {
    request->communicator->release();
    request->communicator = nullptr;
  }
  if (request->is_message()) {
    if (request->message.letter.type != nullptr) request->message.letter.type->release();
    request->message.letter.circle->release();
    request->message = {};
  }
  request->site = nullptr;
  request->persistent = false;
  request->active = false;
  kept.put(request->index);
}

bool is_ours(MPI_Request handle) {
  const std::uintptr_t number = bits(handle);
  if constexpr (kIntegerHandles) {
    return number > kMpichPattern && number <= kMpichPattern + kMost;
  } else {
    const std::uintptr_t base = table().base;
    return number - base < std::size_t{kMost} * kBlock;
  }
}

Request* find_request(MPI_Request handle) {
  Table& t = table();
  const std::uintptr_t number = bits(handle);
  const auto index =
      static_cast<std::uint32_t>(kIntegerHandles ? number - kMpichPattern - 1 : (number - t.base) / kBlock);
  if (!t.is_made(index)) return nullptr;
  Request& request = t.at(index);
  return request.run != nullptr || request.is_message() || request.shared ? &request : nullptr;
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
  return integer >= kFortranBase && integer < kFortranBase + static_cast<std::int32_t>(kMost);
}

MPI_Request request_of_fortran(std::int32_t integer) {
  const auto index = static_cast<std::uint32_t>(integer - kFortranBase);
  Table& t = table();
  if (!t.is_made(index)) return MPI_REQUEST_NULL;
  return t.at(index).handle();
}

}  // namespace urakata::shim
