# SPDX-License-Identifier: BSD-3-Clause
"""The study of collectives that the kernel carries on: who progresses them while ranks compute, and what that costs
(bench/kernel), over test hosts on this machine.

docs/progress-without-a-thread.md says what engine kernel is, docs/studies/kernel.md what the study can be asked.
"""
