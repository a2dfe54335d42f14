// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/text_line.hpp"

namespace urakata::schedule {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

}  // namespace

std::string shown(std::string_view word) {
  std::string text;
  for (const char c : word.substr(0, 32)) text += c >= ' ' && c < 0x7f ? c : '?';
  return "'" + text + (word.size() > 32 ? "...'" : "'");
}

bool TextLine::empty() {
  while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
  return rest_.empty() || rest_.front() == '#';
}

std::string_view TextLine::peek() {
  if (empty()) return {};
  std::size_t length = 1;
  if (rest_.front() == '"') {
    while (length < rest_.size() && rest_[length] != '"') length += rest_[length] == '\\' ? 2 : 1;
    return rest_.substr(0, length + 1);
  }
  while (length < rest_.size() && !is_space(rest_[length]) && rest_[length] != '#') ++length;
  return rest_.substr(0, length);
}

std::string_view TextLine::take() {
  const std::string_view word = peek();
  rest_.remove_prefix(word.size());
  return word;
}

}  // namespace urakata::schedule
