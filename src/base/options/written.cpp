// SPDX-License-Identifier: BSD-3-Clause
#include "base/options/written.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>

namespace urakata::written {

bool same(std::string_view a, std::string_view b) {
  const auto plain = [](char letter) {
    return letter == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  };
  return std::ranges::equal(a, b, [&](char x, char y) { return plain(x) == plain(y); });
}

std::optional<std::size_t> choice(std::span<const std::string_view> choices, std::string_view value) {
  const auto found = std::ranges::find_if(choices, [&](std::string_view one) { return same(one, value); });
  if (found == choices.end()) return std::nullopt;
  return static_cast<std::size_t>(found - choices.begin());
}

std::optional<std::size_t> switched(std::string_view value) {
  if (same(value, "true") || same(value, "on") || same(value, "yes")) return 1;
  if (same(value, "false") || same(value, "off") || same(value, "no")) return 0;
  return choice(kSwitch, value);
}

std::optional<std::size_t> switched_or_auto(std::string_view value) {
  return same(value, kSwitchOrAuto[2]) ? 2 : switched(value);
}

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> size(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::optional<std::uint64_t> value = number(text.substr(0, digits));
  if (!value) return std::nullopt;
  const std::string_view unit = text.substr(digits);
  unsigned shift = 0;
  if (unit.empty() || same(unit, "B")) return value;
  for (const char letter : {'K', 'M', 'G'}) {
    shift += 10;
    const std::array<char, 3> words = {letter, 'i', 'B'};
    const bool plain = same(unit, {words.data(), 1}) || same(unit, {words.data(), 3});
    if (plain || (unit.size() == 2 && same(unit.substr(0, 1), {words.data(), 1}) && same(unit.substr(1), "B"))) {
      if (*value > (std::numeric_limits<std::uint64_t>::max() >> shift)) return std::nullopt;
      return *value << shift;
    }
  }
  return std::nullopt;
}

bool good_cpu_list(std::string_view list) {
  if (!list.empty() && list.back() == ',') return false;
  while (!list.empty()) {
    std::string_view range = cut(list, ',');
    const bool single = range.find('-') == std::string_view::npos;
    const std::optional<std::uint64_t> first = number(cut(range, '-'));
    const std::optional<std::uint64_t> last = single ? first : number(range);
    if (!first || !last || *last < *first || *last >= 4096) return false;
  }
  return true;
}

std::string_view cut(std::string_view& rest, char separator) {
  const std::size_t at = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return part;
}

std::string listed(std::span<const std::string_view> words, std::string_view last) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? last : ", ";
    text += words[i];
  }
  return text;
}

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) return std::string(text);
  std::string word = "'";
  for (const char letter : text) {
    if (letter == '\'') {
      word += "'\\''";
    } else {
      word += letter;
    }
  }
  return word + "'";
}

}  // namespace urakata::written
