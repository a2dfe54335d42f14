# SPDX-License-Identifier: BSD-3-Clause
"""Which cores take a network's interrupts and handle its packets, and what that means for engine kernel.

docs/progress-without-a-thread.md says how to read it, and what can be changed.
"""
