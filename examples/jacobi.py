"""jacobi.c in Python: mpi4py, NumPy, and the halos of urakata.h by ctypes.

    urakata run -n 4 -- python jacobi.py

Needs mpi4py 4 and NumPy. Where Python is position-independent, --space puts the ranks into one address space.
"""

from __future__ import annotations

import ctypes
import sys

import numpy as np
from mpi4py import MPI

EDGE, ITERATIONS = 40, 100
Handle = ctypes.c_void_p if MPI._sizeof(MPI.Comm) == ctypes.sizeof(ctypes.c_void_p) else ctypes.c_int


class Side(ctypes.Structure):
    """ura_halo_side; an MPI_Count has 8 bytes."""

    _fields_ = [
        ("neighbours", ctypes.c_int),
        ("ranks", ctypes.c_void_p),
        ("counts", ctypes.c_void_p),
        ("indices", ctypes.c_void_p),
        ("length", ctypes.c_int64),
    ]


class Halo:
    """An exchange of elements of vectors of doubles: for each side a list of indices for each rank."""

    def __init__(
        self, comm: MPI.Comm, send: dict[int, np.ndarray], receive: dict[int, np.ndarray], length: int
    ) -> None:
        self._calls = ctypes.CDLL(None)  # Urakata is loaded already
        self._halo = ctypes.c_void_p()
        sides, kept = [], []
        for lists in (send, receive):
            arrays = [
                np.array(list(lists), np.intc),
                np.array([len(one) for one in lists.values()], np.intc),
                np.concatenate([*lists.values(), []]).astype(np.intc),
            ]
            kept.append(arrays)
            sides.append(Side(len(lists), *(array.ctypes.data for array in arrays), length))
        bytes_of_one, out, into = ctypes.c_ssize_t(8), ctypes.byref(sides[0]), ctypes.byref(sides[1])
        self._call("create", Handle(MPI._handleof(comm)), bytes_of_one, out, into, ctypes.byref(self._halo))

    def begin(self, vector: np.ndarray) -> None:
        """Starts an exchange of elements of this vector, which stays where it is until the end."""
        address = ctypes.c_void_p(vector.ctypes.data)
        self._call("begin", self._halo, address, address)

    def ready(self, neighbour: int) -> bool:
        """Are this neighbour's elements here, the receiving side's first being 0?"""
        flag = ctypes.c_int()
        self._call("ready", self._halo, neighbour, ctypes.byref(flag))
        return bool(flag.value)

    def end(self) -> None:
        """Waits until all is here."""
        self._call("end", self._halo)

    def free(self) -> None:
        """On all ranks, before MPI is finalised."""
        self._call("free", ctypes.byref(self._halo))

    def _call(self, name: str, *arguments: object) -> None:
        code = getattr(self._calls, f"ura_halo_{name}")(*arguments)
        if code != MPI.SUCCESS:
            raise MPI.Exception(code)


def five_points(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The columns of these rows but the diagonal, and where the stencil leaves the square."""
    i, j = np.divmod(rows, EDGE)
    columns = np.stack([rows - EDGE, rows - 1, rows + 1, rows + EDGE], axis=1)
    return columns, ~np.stack([i > 0, j > 0, j + 1 < EDGE, i + 1 < EDGE], axis=1)


def updated(x: np.ndarray, columns: np.ndarray, right: np.ndarray) -> np.ndarray:
    """One step of Jacobi's method for some rows; their sums are made in the order of their columns."""
    return (((right + x[columns[:, 0]]) + x[columns[:, 1]] + x[columns[:, 2]]) + x[columns[:, 3]]) / 4


def right_side(rows: np.ndarray) -> np.ndarray:
    return 1.0 + rows % 7


def sequential() -> np.ndarray:
    rows = np.arange(EDGE * EDGE)
    columns, outside = five_points(rows)
    columns[outside] = len(rows)  # an element that stays 0
    x = np.zeros(len(rows) + 1)
    for _ in range(ITERATIONS):
        x[:-1] = updated(x, columns, right_side(rows))
    return x[:-1]


def main() -> bool:
    comm = MPI.COMM_WORLD
    firsts = [EDGE * EDGE * rank // comm.size for rank in range(comm.size + 1)]
    first, last = firsts[comm.rank : comm.rank + 2]
    rows = np.arange(first, last)
    columns, outside = five_points(rows)
    foreign = ~outside & ((columns < first) | (columns >= last))
    ghosts = np.unique(columns[foreign])
    owners = np.searchsorted(firsts, ghosts, side="right") - 1
    own = len(rows)
    local = np.where(foreign, own + np.searchsorted(ghosts, columns), columns - first)
    local[outside] = own + len(ghosts)  # an element that stays 0

    receive = {int(owner): own + np.flatnonzero(owners == owner) for owner in np.unique(owners)}
    # The matrix is symmetric: a neighbour needs of ours the rows that need something of it.
    theirs = {owner: foreign & (columns >= firsts[owner]) & (columns < firsts[owner + 1]) for owner in receive}
    send = {owner: np.flatnonzero(needs.any(axis=1)) for owner, needs in theirs.items()}
    x = np.zeros(own + len(ghosts) + 1)
    halo = Halo(comm, send, receive, len(x))

    inner, outer = np.flatnonzero(~foreign.any(axis=1)), np.flatnonzero(foreign.any(axis=1))
    early = 0
    for _ in range(ITERATIONS):
        halo.begin(x)
        of_inner = updated(x, local[inner], right_side(rows[inner]))
        early += all(halo.ready(neighbour) for neighbour in range(len(receive)))
        halo.end()
        of_outer = updated(x, local[outer], right_side(rows[outer]))
        x[inner], x[outer] = of_inner, of_outer
    halo.free()

    parts = comm.gather(x[:own])
    right = comm.rank != 0 or bool(np.array_equal(np.concatenate(parts), sequential()))
    if comm.rank == 0:
        print(f"jacobi.py: {'right' if right else 'WRONG'}; {early} of {ITERATIONS} exchanges behind the inner rows")
    return right


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
# SPDX-License-Identifier: BSD-3-Clause
