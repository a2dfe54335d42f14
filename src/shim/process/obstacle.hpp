// SPDX-License-Identifier: BSD-3-Clause
// Why a rank cannot have what all are to have: a part of what it says of itself when they meet. Thread-safety: a value.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

namespace urakata::shim {

class Obstacle {
 public:
  Obstacle() = default;
  // Cut to the room for it. Empty: there is none.
  explicit Obstacle(const std::string& why) {
    std::memcpy(text_.data(), why.data(), std::min(why.size(), text_.size() - 1));
  }
  bool any() const { return text_[0] != 0; }
  const char* text() const { return text_.data(); }

 private:
  std::array<char, 512> text_{};
};

}  // namespace urakata::shim
