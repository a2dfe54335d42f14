/* Urakata's own calls, for programs that want more than to run unmodified.
 *
 * Include mpi.h first (or let this header do it). There is nothing to link: the functions come from the preload library, and are
 * weak, so that the same program runs without Urakata. Ask ura_available() first.
 *
 * All functions may be called by any thread between MPI_Init and MPI_Finalize, as far as the program's thread level allows, and
 * return MPI_SUCCESS or an MPI error code; a message on standard error says more.
 */
#ifndef URAKATA_H
#define URAKATA_H

#if !defined(MPI_VERSION) /* also after the MPI-5 header mpi_abi.h */
#include <mpi.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#if !defined(URAKATA_API)
#define URAKATA_API __attribute__((weak))
#endif

/* Chooses who runs the collectives of a communicator from now on: "host", "poll" or "thread". Collective in effect: all
 * ranks of the communicator must choose the same at the same point of their order of collectives. Fails with
 * MPI_ERR_PENDING while non-blocking collectives are pending, and with MPI_ERR_ARG for an engine that does not exist or is
 * not to be had in this run. */
URAKATA_API int ura_engine(MPI_Comm comm, const char* engine);

/* Allocations that Urakata has made for starting operations since MPI_Init. */
URAKATA_API unsigned long long ura_allocations(void);

/* Median time in ns that a starting call spends outside the host MPI's own calls, and how many starts were measured; needs
 * the environment variable URAKATA_MEASURE_START when MPI_Init is called. Either pointer may be null. */
URAKATA_API int ura_start_cost(double* own_ns, unsigned long long* starts);

/* Is Urakata loaded? Without it the functions above must not be called. */
static inline int ura_available(void) {
  unsigned long long (*const function)(void) = ura_allocations;
  return function != 0;
}

#ifdef __cplusplus
}
#endif

#endif
