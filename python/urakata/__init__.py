"""The urakata command: runs MPI programs under Urakata and shows what was hidden and what it cost."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("urakata")
except PackageNotFoundError:  # run from the source tree, not installed
    __version__ = "0.1.0"
