# SPDX-License-Identifier: BSD-3-Clause
"""The report of a run: reads what every rank wrote (src/observe) and shows it as text, JSON, HTML and a time line."""
