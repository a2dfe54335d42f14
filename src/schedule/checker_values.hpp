// SPDX-License-Identifier: BSD-3-Clause
// Symbolic memory: which bytes of the start a byte holds now.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "schedule/checker.hpp"

namespace urakata::schedule {

// An expression says how a byte was made: a byte of the start, or two expressions combined, the left operand first.
// Equal expressions have equal numbers. Like rows below, they are counted up to a common shift: the same number stands
// for "byte b of rank 0 combined with byte b of rank 1" for every b.
using Expression = std::uint32_t;

// How one byte was made: an expression with its shift, which is that of the first of its contributions.
struct Value {
  Expression expression = 0;
  std::int64_t base = 0;
  bool operator==(const Value&) const = default;
};

// The contributions of a byte, however they were combined: a sequence of origins, sorted where the operation commutes.
using Row = std::uint32_t;
struct Contributions {
  Row row = 0;
  std::int64_t base = 0;
  auto operator<=>(const Contributions&) const = default;
};

class Terms {
 public:
  explicit Terms(bool commutative) : commutative_(commutative) {}

  Value of(Origin origin);
  Value combine(Value left, Value right);

  Contributions contributions(std::vector<Origin> origins);
  Contributions contributions(Value value) const { return {expressions_[value.expression].row, value.base}; }
  std::size_t size(Value value) const { return rows_[expressions_[value.expression].row].size(); }

  // "byte 8 of buffer 0 of rank 3", or the ranks of several contributions.
  std::string describe(Contributions contributions) const;
  // The ranks as they were combined: "((0 1) 2)". Long ones are cut.
  std::string describe(Expression expression) const;

 private:
  struct Node {
    Row row = 0;
    Expression left = 0;  // both 0 where it is a byte of the start
    Expression right = 0;
  };
  using Pair = std::tuple<std::uint32_t, std::uint32_t, std::int64_t>;  // two numbers, and the shift between them

  Contributions join(Contributions left, Contributions right);
  void write(Expression expression, std::string& text) const;

  bool commutative_;
  std::vector<std::vector<Origin>> rows_;
  std::map<std::vector<std::tuple<std::uint32_t, BufferId, std::int64_t>>, Row> row_numbers_;
  std::map<Pair, Contributions> joined_;
  std::vector<Node> expressions_;
  std::map<Row, Expression> leaves_;
  std::map<Pair, Value> combined_;
};

// Consecutive bytes whose values are one expression with a growing base.
struct Run {
  std::uint64_t bytes = 0;
  Value first;
  bool operator==(const Run&) const = default;
};

// One buffer of one rank. Bytes never written hold themselves.
class Contents {
 public:
  Contents(Value byte_zero) : untouched_(byte_zero) {}  // NOLINT(google-explicit-constructor)

  std::vector<Run> read(std::int64_t begin, std::int64_t end) const;
  void write(std::int64_t begin, const std::vector<Run>& runs);
  Value initial(std::int64_t offset) const { return {untouched_.expression, untouched_.base + offset}; }

 private:
  struct Piece {
    std::int64_t end = 0;
    Value zero;  // the value that the byte at offset 0 would have
  };
  void split(std::int64_t at);

  Value untouched_;
  std::map<std::int64_t, Piece> pieces_;
};

}  // namespace urakata::schedule
