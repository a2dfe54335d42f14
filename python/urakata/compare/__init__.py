# SPDX-License-Identifier: BSD-3-Clause
"""One program by several sides in turn, the MPI library alone among them: which is the fastest, by how much, how
sure."""
