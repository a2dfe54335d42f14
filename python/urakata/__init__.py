# SPDX-License-Identifier: BSD-3-Clause
"""The urakata command: runs MPI programs under Urakata and shows what was hidden and what it cost."""

__version__ = "0.1.0"  # of all of Urakata: CMakeLists.txt and pyproject.toml read this line
