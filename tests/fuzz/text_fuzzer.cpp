// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer on the parser of schedules; clang only. Run: text_fuzzer tests/schedule/golden
#include <cstdio>
#include <cstdlib>

#include "text_round_trip.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string story = urakata::schedule::round_trip(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!story.empty()) {
    std::fputs(story.c_str(), stderr);
    std::abort();
  }
  return 0;
}
