# SPDX-License-Identifier: BSD-3-Clause
"""A file that a command writes where its user says; - is the standard output."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from urakata.paths import NotFoundError

STANDARD_OUTPUT = Path("-")


@contextlib.contextmanager
def opened(file: Path) -> Iterator[TextIO]:
    """The file, to be written anew, and then a line on the standard error that it is. Raises NotFoundError where it
    cannot be written."""
    if file == STANDARD_OUTPUT:
        yield sys.stdout
        return
    try:
        with file.open("w", encoding="utf-8") as stream:
            yield stream
    except OSError as error:
        raise NotFoundError(f"cannot write {file}: {error.strerror}") from error


def tell_written(file: Path) -> None:
    """On the standard error, since the standard output may have a document."""
    if file != STANDARD_OUTPUT:
        print(f"wrote {file}", file=sys.stderr)
