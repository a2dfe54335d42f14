// SPDX-License-Identifier: BSD-3-Clause
// One line of the text form of schedules.
#pragma once

#include <charconv>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "schedule/schedule.hpp"

namespace urakata::schedule {

// What a message shows of a word of the text: cut short, and nothing that would upset a terminal.
std::string shown(std::string_view word);

// The words of one line, taken one by one. After a failure every further call does nothing, so that a caller can take
// all that it needs and look at error() once.
class TextLine {
 public:
  TextLine(std::string_view text, std::size_t number) : rest_(text), place_("line " + std::to_string(number)) {}

  bool empty();             // whether nothing but a comment is left
  std::string_view peek();  // the next word; empty at the end
  std::string_view take();

  bool accept(std::string_view word) {
    if (error_ || peek() != word) return false;
    take();
    return true;
  }

  void expect(std::string_view word) {
    if (!error_ && !accept(word)) fail("expected '" + std::string(word) + "', found " + found());
  }

  template <class T>
  T number(const char* what, T low = 0, T high = std::numeric_limits<T>::max()) {
    if (error_) return low;
    const std::string_view word = peek();
    T value{};
    const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (word.empty() || end != word.data() + word.size() || code == std::errc::invalid_argument) {
      fail(std::string("expected a number (") + what + "), found " + found());
    } else if (code != std::errc() || value < low || value > high) {
      fail(std::string(what) + " " + shown(word) + " is not in " + std::to_string(low) + ".." + std::to_string(high));
    } else {
      take();
      return value;
    }
    return low;
  }

  void end() {
    if (!error_ && !empty()) fail("unexpected " + found() + " at the end of the line");
  }

  std::string found() { return empty() ? "the end of the line" : shown(peek()); }
  void inside(NodeId node) { place_ += ", node " + std::to_string(node); }
  void fail(const std::string& why) {
    if (!error_) error_ = Error{place_ + ": " + why};
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  std::string_view rest_;
  std::string place_;
  std::optional<Error> error_;
};

}  // namespace urakata::schedule
