// SPDX-License-Identifier: BSD-3-Clause
// Prints a line to standard error, in the form of log.hpp, with system calls only. It is for a process without a C
// library, and for signal handlers, which may not call the C library.
#pragma once

#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>

#include "space/raw.hpp"

namespace urakata::space {

// Text beyond kMost characters is cut off.
template <std::size_t kMost = 200>
class Line {
 public:
  // `rank`: negative if there is none.
  explicit Line(int rank) {
    *this << "urakata: ";
    if (rank >= 0) *this << "[rank " << rank << "] ";
  }
  Line& operator<<(const char* words) {
    for (; *words != '\0' && length_ < kMost; ++words) text_[length_++] = *words;
    return *this;
  }
  Line& operator<<(int number) { return digits(static_cast<unsigned>(number), 10); }  // not negative
  Line& hex(std::uint64_t number) { return (*this << "0x").digits(number, 16); }
  void end() {
    text_[length_] = '\n';
    raw::call(SYS_write, 2, raw::word(text_), static_cast<long>(length_ + 1));
  }

 private:
  Line& digits(std::uint64_t number, unsigned base) {
    char text[24] = {};
    char* first = text + sizeof text - 1;
    do {
      const auto digit = static_cast<char>(number % base);
      *--first = static_cast<char>(digit < 10 ? '0' + digit : 'a' + digit - 10);
    } while ((number /= base) != 0);
    return *this << first;
  }

  char text_[kMost + 1];
  std::size_t length_ = 0;
};

}  // namespace urakata::space
