// SPDX-License-Identifier: BSD-3-Clause
// Reads how the program built a datatype (MPI_Type_get_envelope and _contents) and builds the same as a type map.
//
// Bounds are taken from the MPI library at every level, since MPI libraries differ in the padding of structs. What
// comes out is used only if its size is the MPI library's and it lies within the MPI library's true extent.
//
// Not reduced, and left to the MPI library's own MPI_Pack: types of more than 256 levels, combiners that no MPI
// standard up to
// 5.0 knows, predefined types with holes other than MPI_SHORT_INT, and large-count types on MPI libraries that cannot
// show them.
//
// Thread-safety: by any thread, as the MPI library's own functions. Allocates; asks the MPI library.
#pragma once

#include <optional>

#include "layout/type_map.hpp"
#include "shim/native/abi.hpp"

namespace urakata::shim {

std::optional<layout::TypeMap> type_map_of(MPI_Datatype handle);

// Of a type that MPI or the MPI library made, not the program: it has no contents to look at and is never freed.
bool is_predefined(MPI_Datatype handle);

}  // namespace urakata::shim
