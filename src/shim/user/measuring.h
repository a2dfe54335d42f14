/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests and performance targets ask of Urakata about its own work. It is not installed, and may change at any
 * time.
 *
 * As the functions of urakata.h, these come from the preload library, are weak, and may be called by any thread between
 * MPI_Init and MPI_Finalize. Without Urakata they must not be called.
 */
#ifndef URAKATA_MEASURING_H
#define URAKATA_MEASURING_H

#ifdef __cplusplus
extern "C" {
#endif

#if !defined(URAKATA_API)
#define URAKATA_API __attribute__((weak))
#endif

/* Allocations that Urakata has made for starting operations since MPI_Init. */
URAKATA_API unsigned long long urakata_internal_allocations(void);

/* Median time in ns that a starting call spends outside the MPI library's own calls, and how many starts were measured,
 * since the last call of this function. To be called while no other thread starts a collective. Needs the environment
 * variable URAKATA_MEASURE_START when MPI_Init is called. Either pointer may be null. Returns MPI_SUCCESS or an MPI
 * error code; a message on standard error says more. */
URAKATA_API int urakata_internal_start_cost(double* own_ns, unsigned long long* starts);

#ifdef __cplusplus
}
#endif

#endif
