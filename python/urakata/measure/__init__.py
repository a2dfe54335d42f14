# SPDX-License-Identifier: BSD-3-Clause
"""What all that measures has in common, so that every study runs its jobs and works out its numbers in the same way.

`running` runs one launcher, `jobs` a program's ranks, `rounds` all sides in turn. `estimate` has values and between
what they lie. `text_table`, `plots` and `page` show them.
"""
