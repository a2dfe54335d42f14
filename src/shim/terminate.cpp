// What libstdc++ calls last where an exception is not caught. Its own version names the exception, for which it brings
// the demangler: 60 KiB in each preload library, and a page of pointers in every process. Linked into each of them, it
// answers for Urakata's exceptions alone: the program has its own libstdc++.
#include <cstdlib>

#include "base/log.hpp"

namespace __gnu_cxx {  // NOLINT(bugprone-reserved-identifier): libstdc++'s name

void __verbose_terminate_handler();   // NOLINT(bugprone-reserved-identifier)
void __verbose_terminate_handler() {  // NOLINT(bugprone-reserved-identifier)
  urakata::log::error("an exception inside Urakata was not caught; the process ends");
  std::abort();
}

}  // namespace __gnu_cxx
