// SPDX-License-Identifier: BSD-3-Clause
#include "shim/native/native_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/address_memory.hpp"
#include "base/log.hpp"
#include "base/program_file.hpp"

namespace urakata::shim {

NativeLibrary native;
#if defined(URAKATA_ABI_OPENMPI)
NativeHandles native_handles;
#endif

namespace {

constexpr std::array kLibraryNames = {
#if defined(URAKATA_ABI_OPENMPI)
    "libmpi.so.40",
#elif defined(URAKATA_ABI_MPICH)
    "libmpi.so.12",
    "libmpich.so.12",
#else
    "libmpi_abi.so.1",
#endif
};

// The library may be in no global scope (Python opens extensions privately): RTLD_NEXT does not see it then.
void* native_library() {
  for (const char* name : kLibraryNames) {
    if (void* library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD)) return library;
  }
  // dlopen() may not find by name a library that was loaded by its path. So compare the files of all loaded objects.
  const char* path = nullptr;
  auto look = [](dl_phdr_info* info, std::size_t, void* found) {
    const std::string_view file = base_name(info->dlpi_name);
    for (const std::string_view name : kLibraryNames) {
      if (file.starts_with(name)) {
        *static_cast<const char**>(found) = info->dlpi_name;
        return 1;
      }
    }
    return 0;
  };
  dl_iterate_phdr(look, &path);
  return path != nullptr ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
}

template <class Pointer>
void find(void* library, const char* name, Pointer& pointer) {
  pointer = reinterpret_cast<Pointer>(dlsym(library, name));
}

template <class Function>
void need(void* library, const char* name, Function& function) {
  find(library, name, function);
  if (function != nullptr) return;
  log::error(
      "the MPI library has no %s: it is not of the family that this Urakata library (%s) is for. "
      "Run the program with --engine native, or without urakata-exec.",
      name, kAbi);
  std::abort();
}

}  // namespace

void find_native() {
  void* library = native_library();
  if (library == nullptr) {
    log::error(
        "an MPI function was called, but no MPI library (%s) is loaded in this process. "
        "Is the program linked to another MPI than Urakata took it for? Run it without urakata-exec.",
        kLibraryNames[0]);
    std::abort();
  }
#define URAKATA_NEED(name) need(library, "PMPI_" #name, native.name);
#define URAKATA_FIND(name) find(library, "PMPI_" #name, native.name);
#define URAKATA_FIND_X(name)                 \
  find(library, "PMPI_" #name, native.name); \
  if (native.name == nullptr) find(library, "PMPIX_" #name, native.name);
  URAKATA_NATIVE_FUNCTIONS(URAKATA_NEED, URAKATA_FIND, URAKATA_FIND_X)
#undef URAKATA_NEED
#undef URAKATA_FIND
#undef URAKATA_FIND_X
  find(library, "PMPIX_Comm_revoke", native.Comm_revoke);
#if defined(URAKATA_ABI_OPENMPI)
  // In the global scope first: a program that is not position-independent has its own copies of the MPI library's data.
#define URAKATA_FIND_HANDLE(name)                   \
  native_handles.name = dlsym(RTLD_DEFAULT, #name); \
  if (native_handles.name == nullptr) find(library, #name, native_handles.name);
  URAKATA_NATIVE_HANDLES(URAKATA_FIND_HANDLE)
#undef URAKATA_FIND_HANDLE
  find(library, "opal_progress_register", native.progress_register);
  find(library, "opal_progress_unregister", native.progress_unregister);
  find(library, "opal_progress_set_yield_when_idle", native.set_yield_when_idle);
  find(library, "ompi_request_empty", native.done_request);
#endif
  native.message_path = MessagePath::native;
  native.found = true;
}

void* native_symbol(const char* name) {
  void* const library = native_library();
  return library != nullptr ? dlsym(library, name) : nullptr;
}

bool inside_native(const void* address) {
  static AddressMemory seen;
  return seen.ask(address, [](const void* of) {
    Dl_info info{};
    if (dladdr(of, &info) == 0 || info.dli_fname == nullptr) return false;
    const std::string_view file = base_name(info.dli_fname);
    bool inside = file.starts_with("mca_") || file.starts_with("libopen-pal.so");
    for (const std::string_view name : kLibraryNames) inside = inside || file.starts_with(name);
    return inside;
  });
}

}  // namespace urakata::shim
