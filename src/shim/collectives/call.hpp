// SPDX-License-Identifier: BSD-3-Clause
// The arguments of all collectives in one form, as the entry points hand them on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collectives/collectives.hpp"
#include "shim/native/abi.hpp"

namespace urakata::shim {

// An array of counts or displacements: of int, or of the wide type in the `_c` forms.
struct Numbers {
  const void* data = nullptr;
  bool wide = false;
  std::int64_t operator[](std::size_t i) const {
    return wide ? static_cast<const std::int64_t*>(data)[i] : static_cast<const int*>(data)[i];
  }
};

struct CallBuffer {
  const void* address = nullptr;
  std::int64_t count = 0;
  bool for_all = false;  // whether one block goes to all neighbours
  MPI_Datatype type = MPI_DATATYPE_NULL;
  Numbers counts;  // v- and w-forms
  Numbers displacements;
  const MPI_Datatype* types = nullptr;  // w-form; displacements are bytes then
};

enum class CallForm : std::uint8_t { blocking, nonblocking, persistent };

// Arguments that an operation does not have keep these values.
struct Call {
  collectives::Operation operation{};
  const char* name = "";  // "Iallgather", for the report
  const void* call_site = nullptr;
  CallForm form = CallForm::nonblocking;
  CallBuffer send;
  CallBuffer recv;  // bcast's buffer too
  MPI_Op op = MPI_OP_NULL;
  int root = 0;
  MPI_Comm comm = MPI_COMM_NULL;
};

}  // namespace urakata::shim
