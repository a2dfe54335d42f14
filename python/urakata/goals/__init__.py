# SPDX-License-Identifier: BSD-3-Clause
"""The performance targets as commands: bench/goals.toml defines them, this package measures them.

A session is a set of sides (the MPI library alone, the MPI library with Urakata, ...) whose jobs are run in turn,
round after round, until its time is over. A goal is one figure of a session. Goals that share a session share its
measurement.
"""
