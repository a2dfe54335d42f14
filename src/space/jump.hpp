// The jumps that libraries put over the beginning of a C library's function to see its calls (x86-64).
#pragma once

#include <cstdint>
#include <string_view>

namespace urakata::space {

// Where the code jumps to with its first instruction, in one of the forms that UCX and Open MPI write; 0: it is none.
std::uintptr_t target_of_jump(std::string_view code);

}  // namespace urakata::space
