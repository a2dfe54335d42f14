// SPDX-License-Identifier: BSD-3-Clause
#include "profile/fortran.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <string_view>
#include <utility>

#include "base/address_memory.hpp"
#include "base/log.hpp"
#include "base/program_file.hpp"

namespace urakata::profile {
namespace {

constinit thread_local const void* fortran_caller = nullptr;  // noted by a Fortran entry point; nullptr: none

// Whether the file is the Fortran library of Open MPI, MPICH or Intel MPI.
bool is_for_fortran(std::string_view file) {
  for (const std::string_view stem :
       {"libmpi_mpifh.", "libmpi_usempif08.", "libmpi_usempi_", "libmpifort.", "libmpichfort."}) {
    if (file.starts_with(stem)) return true;
  }
  return false;
}

bool in_fortran_library(const void* address) {
  static AddressMemory seen;
  return seen.ask(address, [](const void* of) {
    Dl_info info{};
    return dladdr(of, &info) != 0 && info.dli_fname != nullptr && is_for_fortran(base_name(info.dli_fname));
  });
}

struct Search {
  const char* name;
  void* found;
};

// For libraries outside the global scope, which RTLD_NEXT does not see.
int look_into(dl_phdr_info* info, std::size_t /*size*/, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (info->dlpi_name == nullptr || !is_for_fortran(base_name(info->dlpi_name))) return 0;
  void* const library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return 0;
  search.found = dlsym(library, search.name);
  dlclose(library);
  return search.found != nullptr ? 1 : 0;
}

void* find_routine(const char* name) {
  if (void* const next = dlsym(RTLD_NEXT, name)) return next;
  Search search{name, nullptr};
  dl_iterate_phdr(look_into, &search);
  if (search.found != nullptr) return search.found;
  // Exit status of the dynamic linker for a missing symbol.
  constexpr int kNoSymbol = 127;
  log::error("the program calls %s, which no library of its MPI for Fortran has", name);
  _exit(kNoSymbol);
}

}  // namespace

const void* caller_in_program(const void* return_address) {
  if (fortran_caller == nullptr) return return_address;
  const void* const noted = std::exchange(fortran_caller, nullptr);
  return in_fortran_library(return_address) ? noted : return_address;
}

}  // namespace urakata::profile

// Called by the assembly of an entry point: notes the caller, and returns the MPI library's routine `number`.
extern "C" [[gnu::visibility("hidden")]] void* urakata_before_fortran(unsigned number, const void* caller) {
  using namespace urakata::profile;
  FortranRoutine& routine = fortran_routines[number];
  if (!in_fortran_library(caller)) fortran_caller = caller;  // if it is: an f08 routine calls one of mpif.h
  void* next = routine.next.load(std::memory_order_relaxed);
  if (next == nullptr) {
    next = find_routine(routine.name);
    routine.next.store(next, std::memory_order_relaxed);
  }
  return next;
}
