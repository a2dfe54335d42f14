# SPDX-License-Identifier: BSD-3-Clause
"""The study of neighbour exchange in conjugate gradients: the ways of MPI to exchange, on an MPI library alone, under
Urakata and in a space, on partitions by blocks of rows and by METIS (bench/solver).

docs/studies/solver.md says how to read the result.
"""
