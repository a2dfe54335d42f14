// SPDX-License-Identifier: BSD-3-Clause
// Reads how the program built a datatype (MPI_Type_get_envelope and _contents) and builds the same as a type map.
//
// Bounds are taken from the MPI library at every level, since MPI libraries differ in the padding of structs. A type
// map is used only if its size is the MPI library's and it lies within the MPI library's true extent.
//
// Types without a type map: those of more than 256 levels or with combiners that no MPI standard up to 5.0 knows,
// predefined types with holes other than MPI_SHORT_INT, and large-count types on MPI libraries that cannot show them.
//
// Thread-safety: by any thread, as the MPI library's own functions. Allocates; asks the MPI library.
#pragma once

#include <optional>

#include "layout/type_map.hpp"
#include "shim/native/abi.hpp"

namespace urakata::shim {

std::optional<layout::TypeMap> type_map_of(MPI_Datatype handle);  // nullopt: the type has none

// Whether MPI or the MPI library made the type, not the program: such a type has no contents and is never freed.
bool is_predefined(MPI_Datatype handle);

}  // namespace urakata::shim
