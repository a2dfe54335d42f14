# SPDX-License-Identifier: BSD-3-Clause
"""The project's promises as commands: bench/goals.toml says what is promised, this package measures it.

A session is a set of sides (the MPI library alone, the MPI library with Urakata, ...) whose jobs are run in turn,
round after round, until its time is over. A goal is one figure of a session. Goals that share a session share its
measurement.
"""
