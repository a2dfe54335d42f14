// SPDX-License-Identifier: BSD-3-Clause
// MPI's types and functions for all of the shim. Each preload library is built from the same sources with the mpi.h of
// one MPI family: URAKATA_ABI_OPENMPI, URAKATA_ABI_MPICH (also Intel MPI, MVAPICH) or URAKATA_ABI_STANDARD (MPI-5).
#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include "shim/native/mpi_header.hpp"
#if defined(URAKATA_ABI_OPENMPI)
#include "shim/native/openmpi_handles.hpp"
#endif

#define URAKATA_EXPORT extern "C" __attribute__((visibility("default")))

namespace urakata::shim {

#if defined(URAKATA_ABI_OPENMPI)
inline constexpr const char* kAbi = "openmpi";
#elif defined(URAKATA_ABI_MPICH)
inline constexpr const char* kAbi = "mpich";
#elif defined(URAKATA_ABI_STANDARD)
inline constexpr const char* kAbi = "abi";
#else
#error "say which ABI: URAKATA_ABI_OPENMPI, URAKATA_ABI_MPICH or URAKATA_ABI_STANDARD"
#endif

// Open MPI and the standard ABI have pointers as handles, MPICH has integers.
#if defined(URAKATA_ABI_MPICH)
inline constexpr bool kIntegerHandles = true;
#else
inline constexpr bool kIntegerHandles = false;
#endif

}  // namespace urakata::shim
