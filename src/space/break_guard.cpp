// SPDX-License-Identifier: BSD-3-Clause
#include "space/break_guard.hpp"

#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cerrno>

#include "space/raw.hpp"

namespace urakata::space {

int guard_break() {
  const auto page = static_cast<long>(getauxval(AT_PAGESZ));  // available from the first instruction on
  const long now = raw::call(SYS_brk, 0);
  const long next = (now + page - 1) & ~(page - 1);
  // The break moves up to the guard page, so that not even a few bytes are left.
  if (raw::call(SYS_brk, next) != next) return ENOMEM;
  const long place = raw::call(SYS_mmap, next, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1);
  return place == next ? 0 : static_cast<int>(place < 0 ? -place : EEXIST);
}

}  // namespace urakata::space
