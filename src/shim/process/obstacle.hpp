// SPDX-License-Identifier: BSD-3-Clause
// Why a rank lacks something that all ranks must have: a text of fixed size, as a part of records that ranks exchange.
//
// Thread-safety: a value.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

namespace urakata::shim {

class Obstacle {
 public:
  Obstacle() = default;
  // Keeps the first 511 bytes of `why`. An empty text: there is no obstacle.
  explicit Obstacle(const std::string& why) {
    std::memcpy(text_.data(), why.data(), std::min(why.size(), text_.size() - 1));
  }
  bool any() const { return text_[0] != 0; }
  const char* text() const { return text_.data(); }

 private:
  std::array<char, 512> text_{};
};

}  // namespace urakata::shim
