// What libstdc++ calls last where an exception is not caught. Its own version names the exception, for which it brings
// the demangler: 60 KiB in each preload library, and a page of pointers in every process. Linked into each of them, it
// answers for Urakata's exceptions alone: the program has its own libstdc++.
//
// Urakata throws none, so it is the one of an allocation that neither the process nor the reserve could serve, where no
// call of the program's can end with an error instead.
#include <cstdlib>

#include "base/log.hpp"
#include "shim/process.hpp"
#include "shim/refusal.hpp"

namespace __gnu_cxx {  // NOLINT(bugprone-reserved-identifier): libstdc++'s name

void __verbose_terminate_handler();   // NOLINT(bugprone-reserved-identifier)
void __verbose_terminate_handler() {  // NOLINT(bugprone-reserved-identifier)
  constexpr const char* kWhy =
      "the process has no memory for what is under way, and what Urakata had set aside is used up; the job ends. Give "
      "it more memory (ulimit -v, the limit of its control group), or fewer ranks on this node";
  if (urakata::shim::process().running()) urakata::shim::refuse_job(kWhy);
  urakata::log::error("%s", kWhy);
  std::_Exit(2);
}

}  // namespace __gnu_cxx
