#include "space/break_guard.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

namespace urakata::space {

Status guard_break() {
  // The kernel's own answer: the C library's sbrk(0) may be older.
  const auto now = static_cast<std::uint64_t>(syscall(SYS_brk, 0));
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t next = (now + page - 1) & ~(page - 1);
  void* const place = reinterpret_cast<void*>(next);  // NOLINT(performance-no-int-to-ptr)
  if (mmap(place, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != place) {
    return Error{"the page behind the program break cannot be had: " + std::string(std::strerror(errno))};
  }
  return Nothing{};
}

}  // namespace urakata::space
