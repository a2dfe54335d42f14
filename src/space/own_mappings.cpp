// SPDX-License-Identifier: BSD-3-Clause
#include "space/own_mappings.hpp"

#include "space/fork_guard.hpp"

namespace urakata::space {
namespace {

// Has every fork look for memory that programs leave out of their forks. To be called if this task's madvise() could
// not be replaced, so that its advice remains unknown.
void look_for_marks(const Membership& membership) {
  membership.registry->fork_marks.programs_have_some.store(true, std::memory_order_relaxed);
}

}  // namespace
}  // namespace urakata::space

#if defined(__x86_64__)

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "space/address_ranges.hpp"
#include "space/jump.hpp"
#include "space/raw.hpp"
#include "space/registered_memory.hpp"

namespace urakata::space {
namespace {

using namespace std::string_view_literals;

constexpr int kPlaced = MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_32BIT | MAP_HUGETLB | MAP_GROWSDOWN;

constinit Membership own_task{nullptr, 0};
constexpr std::uint64_t kPage = 4096;

// Largest mapping that is placed in the overflow range. A larger one is taken for a reservation of addresses.
std::uint64_t largest_mapping() { return own_task.registry->overflow_range_bytes / 2; }

TaskRecord& own_record() { return own_task.registry->tasks[own_task.slot]; }

// Keeps the memory from being unmapped, replaced or protected. Not every C library has the number of this system call.
bool seal(const SharedFile& there) {
  constexpr long kSeal = 462;
  return raw::call(kSeal, static_cast<long>(there.address), static_cast<long>(there.bytes)) == 0;
}

// `asked` has been mapped at `place`. True: the first task has mapped the same part of the same file at the address
// that was asked for. If this task is the first one and has got that address, seals the mapping and notes it for the
// others.
bool shared_with_first(const SharedFile& asked, std::uint64_t place) {
  using State = SharedFile::State;
  SharedFile& there = own_task.registry->shared_file;
  State state = there.state.load(std::memory_order_acquire);
  if (state == State::there) {
    return place != asked.address && there.address == asked.address && there.bytes == asked.bytes &&
           there.offset == asked.offset && there.device == asked.device && there.inode == asked.inode;
  }
  if (state != State::none || place != asked.address) return false;
  if (!there.state.compare_exchange_strong(state, State::being_written, std::memory_order_relaxed)) return false;
  there.address = asked.address;
  there.bytes = asked.bytes;
  there.offset = asked.offset;
  there.device = asked.device;
  there.inode = asked.inode;
  there.state.store(seal(there) ? State::there : State::none, std::memory_order_release);
  return false;
}

// The address that mmap() is to return for a file that the kernel has mapped at `place`.
long place_of_file(std::uint64_t wanted, std::uint64_t bytes, int file, off_t offset, long place) {
  struct stat status {};
  if (fstat(file, &status) != 0) return place;
  const SharedFile asked{.address = wanted,
                         .bytes = bytes,
                         .offset = static_cast<std::uint64_t>(offset),
                         .device = status.st_dev,
                         .inode = status.st_ino};
  if (!shared_with_first(asked, static_cast<std::uint64_t>(place))) return place;
  raw::call(SYS_munmap, place, static_cast<long>(bytes));
  return static_cast<long>(wanted);
}

void* our_mmap(void* wanted, std::size_t bytes, int rights, int flags, int file, off_t offset) {
  const std::uint64_t whole = (bytes + kPage - 1) & ~(kPage - 1);
  long address = raw::word(wanted);
  if (wanted == nullptr && (flags & MAP_ANONYMOUS) != 0 && (flags & kPlaced) == 0 && whole - 1 < largest_mapping()) {
    address = static_cast<long>(claim(own_task, whole));
  }
  long result = raw::call(SYS_mmap, address, static_cast<long>(bytes), rights, flags, file, offset);
  if (result < 0 && result > -4096) {
    errno = static_cast<int>(-result);
    return MAP_FAILED;
  }
  if (wanted != nullptr && rights == PROT_READ && flags == MAP_SHARED && own_record().shares_file) {
    result = place_of_file(reinterpret_cast<std::uint64_t>(wanted), whole, file, offset, result);
  }
  return reinterpret_cast<void*>(result);  // NOLINT(performance-no-int-to-ptr)
}

// Target of the jump that the C library's madvise() had before. It is in a library that watches such calls, such as UCX
// for its cache of registered memory. nullptr: it had none.
using Advise = int (*)(void*, std::size_t, int);
constinit Advise next_madvise = nullptr;

int our_madvise(void* place, std::size_t bytes, int advice) {
  if (advice == MADV_DONTFORK || advice == MADV_DOFORK) {
    if (is_needless_fork_advice(reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)))) return 0;
  } else if (next_madvise != nullptr) {
    return next_madvise(place, bytes, advice);
  }
  const long result = advise_for_program(place, bytes, advice);
  if (result == 0) return 0;
  errno = static_cast<int>(-result);
  return -1;
}

constexpr std::string_view kBranchTarget = "\xf3\x0f\x1e\xfa"sv;  // endbr64
constexpr std::string_view kJump = "\xff\x25\x00\x00\x00\x00"sv;  // jmp *0(%rip), and the address after it

// The code of a function of the C library, from the place where a jump may be put; empty: not found.
std::string_view code_of(const char* name) {
  // Looks in the C library only, since another preloaded library may define the name, too.
  void* const library = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return {};
  void* const function = dlsym(library, name);
  dlclose(library);
  Dl_info file{};
  void* symbol = nullptr;
  if (function == nullptr || dladdr1(function, &file, &symbol, RTLD_DL_SYMENT) == 0 || symbol == nullptr) return {};
  std::string_view code(static_cast<const char*>(function), static_cast<const ElfW(Sym)*>(symbol)->st_size);
  if (code.starts_with(kBranchTarget)) code.remove_prefix(kBranchTarget.size());
  return code;
}

// Whether the function makes the system call within its first bytes, as an unchanged one does.
bool is_plain(std::string_view code, unsigned char number) {
  // mov $number, %eax; syscall
  const std::array<char, 7> call{'\xb8', static_cast<char>(number), 0, 0, 0, '\x0f', '\x05'};
  return code.find(std::string_view(call.data(), call.size())) < 64;
}

// Writes a jump to our function over the beginning of `code`. False: the code is too short, or cannot be changed.
bool put_jump(std::string_view code, std::uint64_t ours) {
  if (code.size() < kJump.size() + sizeof ours) return false;
  const std::uint64_t at = reinterpret_cast<std::uint64_t>(code.data());
  const std::uint64_t first = at & ~(kPage - 1);
  const auto bytes = static_cast<long>(at + kJump.size() + sizeof ours - first);
  const auto begin = static_cast<long>(first);
  // A raw system call, since mprotect() itself may be on the same page.
  if (raw::call(SYS_mprotect, begin, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
  auto* const place = const_cast<char*>(code.data());
  std::memcpy(place + kJump.size(), &ours, sizeof ours);
  std::memcpy(place, kJump.data(), kJump.size());
  raw::call(SYS_mprotect, begin, bytes, PROT_READ | PROT_EXEC);
  return true;
}

bool replace_mmap() {
  const std::string_view code = code_of("mmap");
  return is_plain(code, SYS_mmap) && put_jump(code, reinterpret_cast<std::uint64_t>(&our_mmap));
}

bool replace_madvise() {
  const std::string_view code = code_of("madvise");
  if (!is_plain(code, SYS_madvise)) {
    next_madvise = reinterpret_cast<Advise>(target_of_jump(code));  // NOLINT(performance-no-int-to-ptr)
    if (next_madvise == nullptr) return false;
  }
  return put_jump(code, reinterpret_cast<std::uint64_t>(&our_madvise));
}

}  // namespace

bool map_in_own_ranges(const Membership& membership) {
  own_task = membership;
  if (!replace_madvise()) look_for_marks(membership);
  return replace_mmap();
}

}  // namespace urakata::space

#else

namespace urakata::space {

bool map_in_own_ranges(const Membership& membership) {
  look_for_marks(membership);
  return false;
}

}  // namespace urakata::space

#endif

namespace urakata::space {

SharedFiles::SharedFiles(std::optional<Membership> membership) : membership_(membership) {
  if (membership_) membership_->registry->tasks[membership_->slot].shares_file.store(true, std::memory_order_relaxed);
}

SharedFiles::~SharedFiles() {
  if (membership_) membership_->registry->tasks[membership_->slot].shares_file.store(false, std::memory_order_relaxed);
}

}  // namespace urakata::space
