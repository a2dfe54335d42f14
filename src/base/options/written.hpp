// SPDX-License-Identifier: BSD-3-Clause
// Values as users write them in options: words, switches, numbers, sizes, lists of CPUs. A function that returns an
// optional returns std::nullopt for a text that is no such value.
//
// Thread-safety: all by any thread. Only listed(), quoted() and shell_word() allocate.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace urakata::written {

inline constexpr auto kSwitch = std::to_array<std::string_view>({"0", "1"});

inline constexpr auto kSwitchOrAuto = std::to_array<std::string_view>({"0", "1", "auto"});

// Whether the words are equal. Case does not count, and '-' equals '_'.
bool same(std::string_view a, std::string_view b);

// The index in `choices` of the word that is the same() as `value`.
std::optional<std::size_t> choice(std::span<const std::string_view> choices, std::string_view value);

// 0 or 1. "false", "off" and "no" mean 0; "true", "on" and "yes" mean 1.
std::optional<std::size_t> switched(std::string_view value);
// As switched(), and 2 for "auto".
std::optional<std::size_t> switched_or_auto(std::string_view value);

// Decimal digits only.
std::optional<std::uint64_t> number(std::string_view text);

// Bytes: "65536", "64K", "64KB", "64KiB", "1M", "1G". K is 1024, and case does not count.
std::optional<std::uint64_t> size(std::string_view text);

// Whether the text is a list of CPUs below 4096 such as "12-15,20", or empty.
bool good_cpu_list(std::string_view list);

// Returns the part of `rest` before the first separator, or all of it, and cuts it and the separator off `rest`.
std::string_view cut(std::string_view& rest, char separator);

// "a, b or c"; `last` is what stands before the last word, such as " or ".
std::string listed(std::span<const std::string_view> words, std::string_view last);

// In double quotes, nothing escaped.
std::string quoted(std::string_view text);

// The text as one word of a POSIX shell, in quotes only if need be.
std::string shell_word(std::string_view text);

}  // namespace urakata::written
