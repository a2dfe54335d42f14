#include "profile/fortran.hpp"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/log.hpp"

namespace urakata::profile {
namespace {

constinit thread_local const void* fortran_caller = nullptr;

std::string_view file_name(const char* path) {
  const std::string_view whole = path;
  return whole.substr(whole.find_last_of('/') + 1);
}

// Open MPI's and MPICH's (and Intel's) libraries of routines for Fortran.
bool is_for_fortran(std::string_view file) {
  for (const std::string_view stem :
       {"libmpi_mpifh.", "libmpi_usempif08.", "libmpi_usempi_", "libmpifort.", "libmpichfort."}) {
    if (file.starts_with(stem)) return true;
  }
  return false;
}

bool in_fortran_library(const void* address) {
  // Direct-mapped: the address with its lowest bit saying what it was. User addresses have their top bit clear.
  static std::array<std::atomic<std::uintptr_t>, 256> seen{};
  const auto value = reinterpret_cast<std::uintptr_t>(address);
  auto& cell = seen[(value >> 2U) % seen.size()];
  const std::uintptr_t known = cell.load(std::memory_order_relaxed);
  if (known >> 1U == value) return (known & 1U) != 0;
  Dl_info info{};
  const bool found =
      dladdr(address, &info) != 0 && info.dli_fname != nullptr && is_for_fortran(file_name(info.dli_fname));
  cell.store(value << 1U | (found ? 1U : 0U), std::memory_order_relaxed);
  return found;
}

struct Search {
  const char* name;
  void* found;
};

// The libraries may be in no global scope: RTLD_NEXT does not see them then.
int look_into(dl_phdr_info* info, std::size_t /*size*/, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (info->dlpi_name == nullptr || !is_for_fortran(file_name(info->dlpi_name))) return 0;
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
  log::error("the program calls %s, which no library of its MPI for Fortran has", name);
  std::abort();
}

}  // namespace

const void* caller_in_program(const void* return_address) {
  if (fortran_caller == nullptr) return return_address;
  const void* const noted = std::exchange(fortran_caller, nullptr);
  return in_fortran_library(return_address) ? noted : return_address;
}

}  // namespace urakata::profile

// Where an entry point goes on.
extern "C" [[gnu::visibility("hidden")]] void* urakata_before_fortran(unsigned number, const void* caller) {
  using namespace urakata::profile;
  FortranRoutine& routine = fortran_routines[number];
  if (!in_fortran_library(caller)) fortran_caller = caller;  // f08 routines call those of mpif.h
  void* next = routine.next.load(std::memory_order_relaxed);
  if (next == nullptr) {
    next = find_routine(routine.name);
    routine.next.store(next, std::memory_order_relaxed);
  }
  return next;
}
