#include "observe/node.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace urakata::observe {

std::string clock_name() {
  // Not by a stream: the C++ locales would take memory in every rank.
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
