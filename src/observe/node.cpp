// SPDX-License-Identifier: BSD-3-Clause
#include "observe/node.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <ctime>

namespace urakata::observe {

namespace {

std::int64_t ns_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

std::int64_t realtime_minus_monotonic_ns() {
  const std::int64_t realtime = ns_of(CLOCK_REALTIME);
  return realtime - ns_of(CLOCK_MONOTONIC);
}

std::string clock_name() {
  // No C++ stream, since its locales would take memory in every rank.
  char name[64] = "";
  if (std::FILE* file = std::fopen("/proc/sys/kernel/random/boot_id", "re"); file != nullptr) {
    if (std::fgets(name, sizeof name, file) == nullptr) name[0] = '\0';
    std::fclose(file);
  }
  return {name, std::strcspn(name, "\n")};
}

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace urakata::observe
