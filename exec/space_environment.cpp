#include "space_environment.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <utility>

namespace urakata {
namespace {

// The mmap threshold is the highest that the C library takes.
constexpr std::pair<const char*, const char*> kPmix = {"PMIX_MCA_gds", "hash"};
constexpr std::array<std::pair<const char*, const char*>, 2> kNeeds = {
    {kPmix, {"GLIBC_TUNABLES", "glibc.malloc.mmap_threshold=33554432:glibc.malloc.trim_threshold=4294967296"}}};

}  // namespace

std::vector<std::string> space_environment() {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) all.emplace_back(*entry);
  for (const auto& [name, value] : kNeeds) {
    if (std::getenv(name) == nullptr) all.push_back(std::string(name) + "=" + value);
  }
  return all;
}

void suit_space() { setenv(kPmix.first, kPmix.second, 0); }

}  // namespace urakata
