// SPDX-License-Identifier: BSD-3-Clause
// One schedule of the text form, between its braces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "schedule/builder.hpp"
#include "schedule/schedule.hpp"
#include "schedule/text_line.hpp"

namespace urakata::schedule {

// Takes the lines one after another, each with its number; what is wrong with a line is its error() afterwards.
class TextBlock {
 public:
  // `line`: number of the line that begins the schedule.
  TextBlock(std::string name, std::uint32_t ranks, std::uint32_t rank, BufferId buffers, std::size_t line)
      : builder_(std::move(name), ranks, rank, buffers),
        ranks_(ranks),
        rank_(rank),
        user_buffers_(buffers),
        buffers_(buffers),
        line_(line) {}

  void temp(TextLine& line);
  void node(TextLine& line, std::size_t number);
  Result<Schedule> finish();  // after the last line; the error begins with the line that it is about

 private:
  struct Waiting {  // an edge with the line that it stands in, for its error message
    Edge edge;
    std::size_t line;
  };

  Chunks chunks(TextLine& line);
  Place place(TextLine& line, const Chunks& chunks);
  void check_range(TextLine& line, Place place, const Chunks& chunks);
  std::uint32_t peer(TextLine& line);
  Flow flow(TextLine& line);
  void message(TextLine& line, bool is_send);
  void local(TextLine& line, bool copy);
  void edge(TextLine& line, NodeId to, std::size_t number);
  std::vector<NodeId> find_cycle() const;

  Builder builder_;
  std::uint32_t ranks_;
  std::uint32_t rank_;
  std::size_t user_buffers_;
  std::size_t buffers_;
  std::size_t line_;
  std::vector<std::uint64_t> temps_;
  std::vector<std::size_t> nodes_;  // the line of each node
  std::vector<Waiting> edges_;
};

}  // namespace urakata::schedule
