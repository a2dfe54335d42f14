// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "schedule/text.hpp"
#include "schedule/text_block.hpp"
#include "schedule/text_line.hpp"

namespace urakata::schedule {
namespace {

std::string name(TextLine& line) {
  const std::string_view word = line.take();
  if (word.empty() || word.front() != '"') {
    if (word.empty() || word == "{") line.fail("expected the schedule's name");
    return std::string(word);
  }
  std::string name;
  std::size_t i = 1;
  while (i < word.size() && word[i] != '"') {
    if (word[i] != '\\') {
      name += word[i++];
      continue;
    }
    const std::string_view rest = word.substr(i + 1);
    unsigned byte = 0;
    if (rest.starts_with('x') && rest.size() >= 3 &&
        std::from_chars(rest.data() + 1, rest.data() + 3, byte, 16).ptr == rest.data() + 3) {
      name += static_cast<char>(byte);
      i += 4;
    } else if (rest.starts_with('"') || rest.starts_with('\\')) {
      name += rest[0];
      i += 2;
    } else {
      line.fail("bad escape in the name; there are \\\\, \\\" and \\x with two hexadecimal digits");
      return name;
    }
  }
  if (i + 1 != word.size()) line.fail("the name's closing quote is missing");
  return name;
}

TextBlock header(TextLine& line, std::size_t number) {
  line.expect("schedule");
  std::string called = name(line);
  line.expect("ranks");
  const auto ranks = line.number<std::uint32_t>("ranks", 1, std::numeric_limits<std::int32_t>::max());
  line.expect("rank");
  const auto rank = line.number<std::uint32_t>("rank", 0, ranks - 1);
  line.expect("buffers");
  const auto buffers = line.number<BufferId>("buffers", 0, kMaxUserBuffers);
  line.expect("{");
  line.end();
  return {std::move(called), ranks, rank, buffers, number};
}

}  // namespace

Result<std::vector<Schedule>> from_text(std::string_view text) {
  std::vector<Schedule> schedules;
  std::optional<TextBlock> block;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::string_view content = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), content.size() + 1));
    TextLine line(content, ++number);
    if (line.empty()) continue;
    if (!block) {
      block.emplace(header(line, number));
    } else if (line.accept("temp")) {
      block->temp(line);
    } else if (line.accept("node")) {
      block->node(line, number);
    } else if (line.accept("}")) {
      line.end();
      if (line.error()) return *line.error();
      auto schedule = block->finish();
      if (!schedule) return schedule.error();
      schedules.push_back(std::move(*schedule));
      block.reset();
    } else {
      line.fail("unknown keyword " + line.found() + "; expected node, temp or }");
    }
    if (line.error()) return *line.error();
  }
  if (block) return Error{"line " + std::to_string(number) + ": the schedule's closing } is missing"};
  return schedules;
}

}  // namespace urakata::schedule
