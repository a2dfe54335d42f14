# SPDX-License-Identifier: BSD-3-Clause
"""The study of a space: what the ranks of a node gain from one address space, on each MPI library, beside the floor.

A `part` is a program of bench/ with what it measures, shows and draws; `session` runs the parts on every side in turn.
docs/studies/space.md says how to read the result.
"""
