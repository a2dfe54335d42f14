// SPDX-License-Identifier: BSD-3-Clause
// The function that libstdc++ calls for an exception that is not caught. libstdc++'s own version names the exception,
// for which it brings the demangler: 60 KiB in each preload library, and a page of pointers in every process. This one
// is linked into each preload library, and serves Urakata's exceptions alone: the program has its own libstdc++.
//
// Urakata throws no exceptions of its own. So the exception is nearly always std::bad_alloc, of an allocation that
// neither the process nor the reserve could serve, in code that no or_no_memory() surrounds.
#include <cxxabi.h>

#include <cstdlib>
#include <new>
#include <typeinfo>

#include "base/log.hpp"
#include "shim/lifecycle/refusal.hpp"
#include "shim/process/process_state.hpp"

namespace __gnu_cxx {  // NOLINT(bugprone-reserved-identifier): libstdc++'s name

void __verbose_terminate_handler();   // NOLINT(bugprone-reserved-identifier)
void __verbose_terminate_handler() {  // NOLINT(bugprone-reserved-identifier)
  constexpr const char* kNoMemory =
      "the process has no memory for what is under way, and what Urakata had set aside is used up; the job ends. Give "
      "it more memory (ulimit -v, the limit of its control group), or fewer ranks on this node";
  constexpr const char* kDefect =
      "an internal error of Urakata (an exception that nothing expects) ends the job; please report it. --engine "
      "native leaves everything to the MPI library";
  const std::type_info* const type = abi::__cxa_current_exception_type();
  const char* const why = type == nullptr || *type == typeid(std::bad_alloc) ? kNoMemory : kDefect;
  if (urakata::shim::process_state.running) urakata::shim::refuse_job(why);
  urakata::log::error("%s", why);
  std::_Exit(2);
}

}  // namespace __gnu_cxx
