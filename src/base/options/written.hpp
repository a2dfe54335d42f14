// SPDX-License-Identifier: BSD-3-Clause
// Values as people write them in options: words, switches, numbers, sizes, lists of CPUs. What is no such value is
// std::nullopt.
//
// Thread-safety: all by any thread. Nothing but listed(), quoted() and shell_word() allocates.
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

// Case does not count, '-' is as good as '_'.
bool same(std::string_view a, std::string_view b);

// Which of the choices it is.
std::optional<std::size_t> choice(std::span<const std::string_view> choices, std::string_view value);

// 0 or 1; there are words for them too.
std::optional<std::size_t> switched(std::string_view value);
// The same, or 2: auto.
std::optional<std::size_t> switched_or_auto(std::string_view value);

std::optional<std::uint64_t> number(std::string_view text);

// "65536", "64K", "64KiB", "1M"; K is 1024.
std::optional<std::uint64_t> size(std::string_view text);

// Such as "12-15,20".
bool good_cpu_list(std::string_view list);

// Cuts the part before the separator off the front of `rest`.
std::string_view cut(std::string_view& rest, char separator);

// "a, b or c", with " or " as what is before the last one.
std::string listed(std::span<const std::string_view> words, std::string_view last);

std::string quoted(std::string_view text);

// As a POSIX shell takes it for one word: quoted only where that is needed.
std::string shell_word(std::string_view text);

}  // namespace urakata::written
