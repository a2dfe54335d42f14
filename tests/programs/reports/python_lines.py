# SPDX-License-Identifier: BSD-3-Clause
"""Non-blocking collectives from two lines of one function and, in a thread, from another."""

import threading

from mpi4py import MPI


def two(comm: MPI.Intracomm, values: bytearray, result: bytearray) -> None:
    first = comm.Iallreduce([values, MPI.BYTE], [result, MPI.BYTE], MPI.BOR)  # first
    first.Wait()
    second = comm.Iallreduce([values, MPI.BYTE], [result, MPI.BYTE], MPI.BOR)  # second
    second.Wait()


class Solver:
    def prepare(self, comm: MPI.Intracomm) -> None:
        barrier = comm.Barrier_init()  # prepared
        for _ in range(3):
            barrier.Start()
            barrier.Wait()
        barrier.Free()


rank = MPI.COMM_WORLD.rank
for _ in range(10):
    answer = bytearray(8)
    two(MPI.COMM_WORLD, bytearray([1 << rank] * 8), answer)
    assert answer == bytearray([(1 << MPI.COMM_WORLD.size) - 1] * 8), answer
thread = threading.Thread(target=Solver().prepare, args=(MPI.COMM_WORLD,))
thread.start()
thread.join()
