// SPDX-License-Identifier: BSD-3-Clause
// mpi.h of the family that the library is built for, from the folder that CMake has found; warnings in it are not ours.
//
// That folder is given by -I and not as one of the system's: a variable such as CPATH, which Intel MPI's setvars.sh
// sets, puts another family's mpi.h before the system's folders.
#pragma once
#pragma GCC system_header

#if defined(URAKATA_ABI_STANDARD)
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
