// SPDX-License-Identifier: BSD-3-Clause
// Recognizes the jump that a library has written over the first instructions of a function of the C library, to
// receive calls of that function (x86-64).
#pragma once

#include <cstdint>
#include <string_view>

namespace urakata::space {

// Target address of a jump at the beginning of the code, in one of the forms that UCX and Open MPI write; 0: no such
// jump.
std::uintptr_t target_of_jump(std::string_view code);

}  // namespace urakata::space
