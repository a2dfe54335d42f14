# SPDX-License-Identifier: BSD-3-Clause
"""What goes into every rank stays small."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from urakata import paths


@pytest.mark.skipif(shutil.which("nm") is None, reason="no nm (binutils)")
def test_no_locales_of_the_standard_library() -> None:
    """One stream of C++ brings them: 40 KiB of a rank's memory."""
    libraries = sorted(paths.preload_libraries().glob("liburakata-*.so"))
    assert libraries
    for library in libraries:
        symbols = subprocess.run(["nm", "-C", str(library)], capture_output=True, text=True, check=True, timeout=60)
        assert "std::locale::" not in symbols.stdout, library.name
