# SPDX-License-Identifier: BSD-3-Clause
"""`python -m urakata.goals`, which ./dev goals calls once all is built."""

from urakata.goals.command import main

main()
