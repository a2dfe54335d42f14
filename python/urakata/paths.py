# SPDX-License-Identifier: BSD-3-Clause
"""Where Urakata's programs, its preload libraries and the MPI libraries of the source tree are.

Three layouts are known: the source tree (`build/`), an installation by CMake (the package is in
`PREFIX/share/urakata/python`), and a wheel (everything in the Python environment's prefix). The variable URA_PREFIX
names another build or installation, URA_HOSTS another folder of MPI libraries.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
# Programs that come with a component: the CMake option that a build may switch it off by.
_COMPONENTS = {"urakata-link": "URAKATA_SITES", "urakata-kernel": "URAKATA_KERNEL"}


class NotFoundError(Exception):
    """Something that is needed is not there; the text says what to do."""


def source_tree() -> Path | None:
    """Root of the source tree that this package is run from; None when installed."""
    root = _PACKAGE.parent.parent
    return root if (root / "dev").is_file() and (root / "src").is_dir() else None


def _candidates() -> list[Path]:
    if named := os.environ.get("URA_PREFIX"):
        return [Path(named)]
    found = []
    if tree := source_tree():
        found.append(tree / "build")
    found.append(_PACKAGE.parents[3])  # PREFIX/share/urakata/python/urakata
    found.append(Path(sys.prefix))
    if on_path := shutil.which("urakata-exec"):
        found.append(Path(on_path).resolve().parent.parent)
    return found


def prefix() -> Path:
    """The folder with bin/urakata-exec and lib/urakata/ in it."""
    candidates = _candidates()
    for candidate in candidates:
        if (candidate / "bin" / "urakata-exec").is_file():
            return candidate
    looked = ", ".join(str(candidate / "bin") for candidate in candidates)
    raise NotFoundError(f"urakata-exec is not built: looked in {looked}. In the source tree, run ./dev build first.")


def program(name: str) -> Path:
    """A program of Urakata, such as `urakata-exec`, `urakata-schedule` or `bench/overlap`."""
    path = prefix() / "bin" / name
    if not path.is_file():
        off = f" A build with {_COMPONENTS[name]}=OFF lacks it." if name in _COMPONENTS else ""
        raise NotFoundError(f"{name} is not in {path.parent}. In the source tree, run ./dev build.{off}")
    return path


def preload_libraries() -> Path:
    """The folder with liburakata-openmpi.so and its sisters."""
    return prefix() / "lib" / "urakata"


def hosts() -> Path | None:
    """The folder with the MPI libraries that ./dev setup installed (openmpi, mpich, impi); None where there is none."""
    if named := os.environ.get("URA_HOSTS"):
        return Path(named)
    tree = source_tree()
    folder = tree / "build" / "hosts" if tree else None
    return folder if folder and folder.is_dir() else None
