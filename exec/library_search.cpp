// SPDX-License-Identifier: BSD-3-Clause
#include "library_search.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/file_bytes.hpp"
#include "base/program_file.hpp"

namespace urakata {
namespace {

constexpr const char* kCache = "/etc/ld.so.cache";
constexpr std::string_view kCacheMagic = "glibc-ld.so.cache1.1";

// The cache's header and entries, as glibc writes them since 2.2 (sysdeps/generic/dl-cache.h).
struct CacheHeader {
  char magic[20];
  std::uint32_t libraries;
  std::uint32_t string_bytes;
  std::uint8_t flags;
  std::uint8_t padding[3];
  std::uint32_t extension;
  std::uint32_t unused[3];
};
struct CacheEntry {
  std::int32_t flags;
  std::uint32_t name;  // offsets from the beginning of the header
  std::uint32_t path;
  std::uint32_t os_version;
  std::uint64_t hwcap;
};
static_assert(sizeof(CacheHeader) == 48 && sizeof(CacheEntry) == 24);

#if defined(__x86_64__)
constexpr const char* kLib = "lib/x86_64-linux-gnu";
#elif defined(__aarch64__)
constexpr const char* kLib = "lib/aarch64-linux-gnu";
#else
constexpr const char* kLib = "lib64";
#endif

std::string folder_of(const std::string& path) {
  const std::string folder = real_path(path);
  const std::size_t slash = folder.rfind('/');
  return slash == std::string::npos ? "." : folder.substr(0, slash);
}

void replace(std::string& text, std::string_view word, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += by.size()) {
    text.replace(at, word.size(), by);
  }
}

std::vector<std::string> folders(std::string_view list, std::string_view separators) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(separators), list.size());
    parts.emplace_back(end == 0 ? "." : list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

std::vector<std::string> expanded(const std::string& list, const std::string& owner) {
  std::vector<std::string> parts = folders(list, ":");
  for (std::string& part : parts) {
    if (part.find('$') == std::string::npos) continue;
    for (const char* word : {"$ORIGIN", "${ORIGIN}"}) replace(part, word, folder_of(owner));
    for (const char* word : {"$LIB", "${LIB}"}) replace(part, word, kLib);
  }
  return parts;
}

// Searches folders for a library as the dynamic linker does. The first file of that name ends the search, except for
// files of another machine. If that first file is no ELF file (such as a linker script), nothing is found: the dynamic
// linker gives up there, too.
struct Search {
  bool over = false;
  std::string path;

  void in(const std::vector<std::string>& where, std::string_view name) {
    for (const std::string& folder : where) {
      if (!over) look_at(folder + "/" + std::string(name));
    }
  }

  void look_at(const std::string& file) {
    if (access(file.c_str(), R_OK) != 0) return;
    const Result<Elf> elf = read_elf(file);
    if (elf && elf->foreign) return;
    over = true;
    if (elf) path = file;
  }
};

}  // namespace

LibrarySearch::LibrarySearch() {
  if (const char* list = std::getenv("LD_LIBRARY_PATH")) library_path_ = folders(list, ":;");
}

std::string LibrarySearch::find(std::string_view name, const Loader* loader) {
  Search search;
  if (name.find('/') != std::string_view::npos) {
    search.look_at(std::string(name));
    return search.path;
  }
  if (loader == nullptr || loader->elf.runpath.empty()) {
    for (const Loader* one = loader; one != nullptr; one = one->loader) {
      if (one->elf.runpath.empty()) search.in(expanded(one->elf.rpath, one->path), name);
    }
  }
  search.in(library_path_, name);
  if (loader != nullptr) search.in(expanded(loader->elf.runpath, loader->path), name);
  if (search.over) return search.path;
  read_cache();
  if (const auto found = cache_.find(std::string(name)); found != cache_.end()) search.look_at(found->second);
  search.in({"/lib64", "/usr/lib64", "/lib", "/usr/lib"}, name);
  return search.path;
}

void LibrarySearch::read_cache() {
  if (std::exchange(cache_read_, true)) return;
  const std::string bytes = file_bytes(kCache);
  const std::size_t start = bytes.find(kCacheMagic);
  CacheHeader header{};
  if (start == std::string::npos || bytes.size() - start < sizeof header) return;
  std::memcpy(&header, bytes.data() + start, sizeof header);
  const auto text = [&](std::uint32_t offset) {
    return offset < bytes.size() - start ? std::string(bytes.c_str() + start + offset) : std::string();
  };
  for (std::size_t i = 0; i < header.libraries; ++i) {
    const std::size_t at = start + sizeof header + i * sizeof(CacheEntry);
    if (at + sizeof(CacheEntry) > bytes.size()) return;
    CacheEntry entry{};
    std::memcpy(&entry, bytes.data() + at, sizeof entry);
    if (entry.hwcap == 0) cache_.emplace(text(entry.name), text(entry.path));  // keeps the first, which is the best
  }
}

}  // namespace urakata
