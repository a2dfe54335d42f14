# SPDX-License-Identifier: BSD-3-Clause
"""The overlap study: which engine, placement and division into ranks and threads hides communication best here.

`plan` makes configurations of axes, `session` runs them in turn, `measures` works out what was hidden and what it cost,
`tables`, `plots` and `page` show it. docs/studies/overlap.md says how to read the result.
"""
