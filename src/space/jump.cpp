// SPDX-License-Identifier: BSD-3-Clause
#include "space/jump.hpp"

#include <cstring>

namespace urakata::space {
namespace {

using namespace std::string_view_literals;

template <class Number>
Number number_at(std::string_view code, std::size_t place) {
  Number number{};
  std::memcpy(&number, code.data() + place, sizeof number);
  return number;
}

}  // namespace

std::uintptr_t target_of_jump(std::string_view code) {
  constexpr std::string_view kNear = "\xe9"sv;                          // jmp, distance from the next instruction
  constexpr std::string_view kIndirect = "\xff\x25\x00\x00\x00\x00"sv;  // jmp *0(%rip), address
  constexpr std::string_view kLoad = "\x49\xbb"sv;                      // mov address, %r11
  constexpr std::string_view kByRegister = "\x41\xff\xe3"sv;            // jmp *%r11
  constexpr std::size_t kAddress = sizeof(std::uintptr_t);
  if (code.starts_with(kNear) && code.size() >= kNear.size() + sizeof(std::int32_t)) {
    const auto distance = number_at<std::int32_t>(code, kNear.size());
    const auto next = reinterpret_cast<std::uintptr_t>(code.data()) + kNear.size() + sizeof distance;
    return next + static_cast<std::uintptr_t>(static_cast<std::intptr_t>(distance));
  }
  if (code.starts_with(kIndirect) && code.size() >= kIndirect.size() + kAddress) {
    return number_at<std::uintptr_t>(code, kIndirect.size());
  }
  if (code.starts_with(kLoad) && code.size() >= kLoad.size() + kAddress + kByRegister.size() &&
      code.substr(kLoad.size() + kAddress).starts_with(kByRegister)) {
    return number_at<std::uintptr_t>(code, kLoad.size());
  }
  return 0;
}

}  // namespace urakata::space
