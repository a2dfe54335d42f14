// SPDX-License-Identifier: BSD-3-Clause
#include "space/start_stack.hpp"

#include <elf.h>

#include <cstring>

#include "base/file_bytes.hpp"

namespace urakata::space {

std::vector<Auxiliary> own_auxiliary() {
  std::vector<Auxiliary> all;
  const std::string bytes = file_bytes("/proc/self/auxv");
  for (std::size_t at = 0; at + sizeof(Auxiliary) <= bytes.size(); at += sizeof(Auxiliary)) {
    Auxiliary one{};
    std::memcpy(&one, bytes.data() + at, sizeof one);
    if (one.kind == AT_NULL) break;
    all.push_back(one);
  }
  return all;
}

Result<std::byte*> write_stack(std::span<std::byte> stack, const StackContents& contents) {
  std::size_t text = contents.file.size() + 1 + contents.random.size();
  for (const std::string& one : contents.arguments) text += one.size() + 1;
  for (const std::string& one : contents.environment) text += one.size() + 1;
  const std::size_t words =
      contents.arguments.size() + contents.environment.size() + 3 + 2 * (contents.auxiliary.size() + 3);
  const std::size_t bytes = text + words * sizeof(std::uint64_t) + 64;
  if (bytes > stack.size() / 2) {
    return Error{"arguments and environment need " + std::to_string(bytes) + " bytes of a stack of " +
                 std::to_string(stack.size())};
  }

  // From low to high addresses: words, padding, random bytes, arguments, environment, file name, eight zero bytes.
  std::byte* const end = stack.data() + stack.size();
  std::byte* at = end - 8 - text;
  const auto address = [&] { return reinterpret_cast<std::uint64_t>(at); };
  const auto put = [&](const void* from, std::size_t count) {
    const std::uint64_t place = address();
    std::memcpy(at, from, count);
    at += count;
    return place;
  };
  const std::uint64_t below = (address() - words * sizeof(std::uint64_t)) & ~std::uint64_t{15};
  auto* const pointer = reinterpret_cast<std::byte*>(below);  // NOLINT(performance-no-int-to-ptr)

  std::byte* word_at = pointer;
  const auto word = [&](std::uint64_t value) {
    std::memcpy(word_at, &value, sizeof value);
    word_at += sizeof value;
  };
  const std::uint64_t random = put(contents.random.data(), contents.random.size());
  word(contents.arguments.size());
  for (const std::string& one : contents.arguments) word(put(one.c_str(), one.size() + 1));
  word(0);
  for (const std::string& one : contents.environment) word(put(one.c_str(), one.size() + 1));
  word(0);
  for (const Auxiliary& one : contents.auxiliary) {
    if (one.kind == AT_RANDOM || one.kind == AT_EXECFN) continue;
    word(one.kind);
    word(one.value);
  }
  word(AT_RANDOM);
  word(random);
  word(AT_EXECFN);
  word(put(contents.file.c_str(), contents.file.size() + 1));
  word(AT_NULL);
  word(0);
  return pointer;
}

}  // namespace urakata::space
