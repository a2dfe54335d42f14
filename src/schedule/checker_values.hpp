// Symbolic memory: which bytes of the start a byte holds now.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "schedule/checker.hpp"

namespace urakata::schedule {

// A term is a sequence of origins, up to a common shift: the term of [rank 0, +0; rank 1, +0] stands for every byte b
// that is byte b of rank 0 combined with byte b of rank 1. Equal sequences have equal numbers.
using Term = std::uint32_t;

// A term with its shift: which contributions one byte has.
struct Value {
  Term term = 0;
  std::int64_t base = 0;
  bool operator==(const Value&) const = default;
};

class Terms {
 public:
  explicit Terms(bool commutative) : commutative_(commutative) {}

  Value of(std::vector<Origin> origins);
  Value combine(Value left, Value right);
  std::size_t size(Term term) const { return terms_[term].size(); }

  // "byte 8 of buffer 0 of rank 3", or the ranks of several contributions.
  std::string describe(Value value) const;

 private:
  bool commutative_;
  std::vector<std::vector<Origin>> terms_;
  std::map<std::vector<std::tuple<std::uint32_t, BufferId, std::int64_t>>, Term> numbers_;
  std::map<std::tuple<Term, Term, std::int64_t>, Value> combined_;
};

// Consecutive bytes whose values are one term with a growing base.
struct Run {
  std::uint64_t bytes = 0;
  Value first;
};

// One buffer of one rank. Bytes never written hold themselves.
class Contents {
 public:
  Contents(Value byte_zero) : untouched_(byte_zero) {}  // NOLINT(google-explicit-constructor)

  std::vector<Run> read(std::int64_t begin, std::int64_t end) const;
  void write(std::int64_t begin, const std::vector<Run>& runs);
  Value initial(std::int64_t offset) const { return {untouched_.term, untouched_.base + offset}; }

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
