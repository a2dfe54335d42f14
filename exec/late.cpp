// SPDX-License-Identifier: BSD-3-Clause
// liburakata-late.so: for programs that load their MPI late, as Python does with mpi4py.
//
// It interposes dlopen. The program may be about to load an MPI library, or a library that needs one. Then three
// libraries are loaded first: the MPI library itself, with local visibility; the matching preload library, with global
// visibility; and the MPI library again, now global. So the names MPI_* and PMPI_* are found in the preload library
// first, as if it had been preloaded. Open MPI's handles are addresses in its library: there liburakata-late-openmpi.so
// loads the preload library and libmpi.so.40 in this order.
//
// It interposes dlsym, too. If a program looks up MPI_* or PMPI_* in the handle of the MPI library, it gets the preload
// library's function. The preload library's own look-ups get the MPI library's function.
//
// The results of dlopen and dlsym depend on the caller (search paths, RTLD_NEXT), so the real functions must see the
// program as their caller. The entry points in late_entry.S ask this file where to go, and jump there with the stack
// unchanged.
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <new>
#include <string>
#include <string_view>

#include "base/log.hpp"
#include "base/options/options.hpp"
#include "base/preload_env.hpp"
#include "linked_tools.hpp"
#include "mpi_need.hpp"
#include "profile_library.hpp"
#include "space/settle.hpp"

namespace urakata {
namespace {

using Open = void* (*)(const char*, int);
using Look = void* (*)(void*, const char*);

#if defined(__x86_64__)
constexpr const char* kFirstVersion = "GLIBC_2.2.5";
#else
constexpr const char* kFirstVersion = "GLIBC_2.17";
#endif

// The C library's dlsym and dlopen, found with dlvsym, which is not interposed. begin() finds both before there are
// threads: a child that is forked while another thread finds one would wait for that thread for ever.
Look real_dlsym() {
  static const Look real = [] {
    void* found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    return reinterpret_cast<Look>(found != nullptr ? found : dlvsym(RTLD_NEXT, "dlsym", kFirstVersion));
  }();
  return real;
}

Open real_dlopen() {
  static const Open real = [] {
    void* found = dlvsym(RTLD_NEXT, "dlopen", "GLIBC_2.34");
    return reinterpret_cast<Open>(found != nullptr ? found : dlvsym(RTLD_NEXT, "dlopen", kFirstVersion));
  }();
  return real;
}

// Written once, by the thread that finds the MPI library; each handle is stored when its library is loaded.
std::atomic<bool> settled{false};  // whether an MPI library has been found, so that the search is over
std::atomic<void*> native{nullptr};
std::atomic<void*> profile{nullptr};  // profile library, in front of `ours` if a report is asked for
std::atomic<void*> ours{nullptr};

// The dlopen of the preload library. Since that one is not preloaded here, calls are passed on to it.
std::atomic<void*> our_dlopen{nullptr};

// The file name of the object that has this address.
std::string object_of(const void* address) {
  Dl_info about{};
  return dladdr(address, &about) != 0 && about.dli_fname != nullptr ? about.dli_fname : "";
}

struct Looking {
  std::mutex lock;
  MpiSearch search;
};
// Never freed, and created anew in a forked child. If another thread was inside dlopen at the fork, that thread does
// not exist in the child: its lock would stay locked, and the search half done.
std::atomic<Looking*> looking{nullptr};

void look_anew() { looking.store(new (std::nothrow) Looking, std::memory_order_relaxed); }

// Looks for an MPI library among the libraries that are about to be loaded. The lock is not held while a library is
// loaded: constructors may call dlopen from other threads.
MpiNeed look_into(const char* name, const void* caller) {
  Looking* const present = looking.load(std::memory_order_relaxed);
  if (present == nullptr) return {};
  const std::scoped_lock held(present->lock);
  Loader loader;
  loader.path = object_of(caller);
  if (Result<Elf> elf = read_elf(loader.path)) loader.elf = *elf;
  const std::string path = present->search.libraries().find(name, &loader);
  return path.empty() ? MpiNeed{} : present->search.need_of(path);
}

void load_before(const MpiNeed& need) {
  if (settled.exchange(true)) return;
  if (need.abi == Abi::unknown) {
    log::warning_of_all("%s is loaded, an MPI that Urakata does not know; the program runs untouched",
                        need.library.c_str());
    return;
  }
  const std::string self = object_of(reinterpret_cast<const void*>(&load_before));
  const std::string stem = (need.abi == Abi::openmpi ? "late-" : "") + std::string(name(need.abi));
  const std::string folder = self.substr(0, self.rfind('/'));
  const std::string library = folder + "/" + std::string(kLibraryPrefix) + stem + ".so";
  const std::string& file = need.path.empty() ? need.library : need.path;
  void* const handle = real_dlopen()(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    log::warning_of_all("cannot load %s: %s; the program runs untouched", file.c_str(), dlerror());
    return;
  }
  native.store(handle, std::memory_order_release);
  if (const std::string front = profile_library(need.abi, folder); !front.empty()) {
    void* const opened = real_dlopen()(front.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (opened == nullptr)
      log::warning_of_all("cannot load %s: %s; the report has no profile", front.c_str(), dlerror());
    profile.store(opened, std::memory_order_release);
  }
  void* const loaded = real_dlopen()(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (loaded == nullptr) {
    log::warning_of_all("cannot load %s for %s (%s); the program runs untouched", library.c_str(), need.library.c_str(),
                        dlerror());
    if (void* const opened = profile.exchange(nullptr)) dlclose(opened);
    return;
  }
  real_dlopen()(file.c_str(), RTLD_NOW | RTLD_GLOBAL);  // the same library again, now behind ours
  ours.store(loaded, std::memory_order_release);
  our_dlopen.store(real_dlsym()(loaded, "dlopen"), std::memory_order_release);
  log::detail("%s is loaded under %s", file.c_str(), library.c_str());
  // A library that is loaded from now on is found behind the preload library.
  const std::string ours_itself = folder + "/" + std::string(kLibraryPrefix) + std::string(name(need.abi)) + ".so";
  for (const Loader* const tool : tools_among(need, 0, {ours_itself, profile_library(need.abi, folder)})) {
    log::warning_of_all(
        "the MPI tool %s sees no call of the program, since it is loaded after the program has started; start the "
        "program with LD_PRELOAD=%s",
        tool->path.c_str(), tool->path.c_str());
  }
}

// dlsym for a name of MPI in a handle. If it would find the MPI library's function, returns the preload library's.
void* look_up_mpi(void* handle, const char* symbol) {
  void* const found = real_dlsym()(handle, symbol);
  if (found == nullptr) return nullptr;
  void* const hosts = real_dlsym()(native.load(std::memory_order_relaxed), symbol);
  void* own = nullptr;
  if (found == hosts) {
    void* const front = profile.load(std::memory_order_relaxed);
    if (front != nullptr) own = real_dlsym()(front, symbol);
    if (own == nullptr) own = real_dlsym()(ours.load(std::memory_order_relaxed), symbol);
  }
  dlerror();  // clears errors of these look-ups, which the program might take for errors of its own
  return own != nullptr ? own : found;
}

bool is_ours(const void* caller) {
  const std::string object = object_of(caller);
  return std::string_view(object).substr(object.rfind('/') + 1).starts_with(kLibraryPrefix);
}

constinit pid_t loaded_in = 0;

[[gnu::constructor]] void begin() {
  loaded_in = getpid();
  forget_preload();
  real_dlopen();
  real_dlsym();
  look_anew();
  pthread_atfork(nullptr, nullptr, [] {
    if (!settled.load(std::memory_order_relaxed)) look_anew();
  });
  space::settle();
  log::set_verbosity(options().verbose);
}

// If the program has loaded an MPI library, the preload library for that one says whether the program has used it.
[[gnu::destructor]] void end() {
  if (settled.load(std::memory_order_relaxed) || loaded_in != getpid()) return;
  log::warning_of_all("the program ended without loading an MPI library: Urakata had nothing to do");
}

}  // namespace
}  // namespace urakata

extern "C" {

// Where the entry point `dlopen` goes on.
[[gnu::visibility("hidden")]] void* urakata_before_dlopen(const char* name, int mode, const void* caller) {
  using namespace urakata;
  if (name != nullptr && *name != '\0' && !settled.load(std::memory_order_acquire) && (mode & RTLD_NOLOAD) == 0) {
    if (const MpiNeed need = look_into(name, caller); need.abi != Abi::none) load_before(need);
  }
  void* const next = our_dlopen.load(std::memory_order_acquire);
  return next != nullptr ? next : reinterpret_cast<void*>(real_dlopen());
}

// Where the entry point `dlsym` goes on.
[[gnu::visibility("hidden")]] void* urakata_before_dlsym(void* handle, const char* symbol, const void* caller) {
  using namespace urakata;
  const std::string_view name = symbol == nullptr ? "" : symbol;
  const bool mpi = name.starts_with("MPI_") || name.starts_with("PMPI_") || name.starts_with("MPIX_");
  const bool by_handle = handle != RTLD_NEXT && handle != RTLD_DEFAULT;
  if (mpi && by_handle && ours.load(std::memory_order_acquire) != nullptr && !is_ours(caller)) {
    return reinterpret_cast<void*>(&look_up_mpi);
  }
  return reinterpret_cast<void*>(real_dlsym());
}
}
