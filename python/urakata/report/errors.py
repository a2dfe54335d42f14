# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong with a report."""

from urakata.paths import NotFoundError


class ReportError(NotFoundError):
    """The report cannot be read; the text names the folder or file and the reason."""
