/* SPDX-License-Identifier: BSD-3-Clause */
// What the MPI library's mpi.h offers beyond MPI 3.1, found at compile time.
#ifndef URAKATA_TESTS_FEATURES_H
#define URAKATA_TESTS_FEATURES_H

#include <mpi.h>

#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION == 4
#include <mpi-ext.h>
#endif

// PERSISTENT(Bcast) is the name of the call that initialises a persistent broadcast.
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAVE_PERSISTENT 1
#define PERSISTENT(name) MPI_##name##_init
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ) && OMPI_HAVE_MPI_EXT_PCOLLREQ
#define HAVE_PERSISTENT 1
#define PERSISTENT(name) MPIX_##name##_init
#else
#define HAVE_PERSISTENT 0
#endif

#if MPI_VERSION >= 4
#define HAVE_LARGE_COUNT 1
#else
#define HAVE_LARGE_COUNT 0
#endif

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
#define HAVE_GET_STATUS_SOME 1
#else
#define HAVE_GET_STATUS_SOME 0
#endif

#endif
