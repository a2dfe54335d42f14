# SPDX-License-Identifier: BSD-3-Clause
"""The command urakata, and `python -m urakata`: says what is missing where the Python that runs it cannot."""

import sys

# What the command imports and Python does not bring: name to import, what pip calls it.
_NEEDED = {
    "typer": "typer>=0.12",
    "click": "typer>=0.12",
    "rich": "rich>=13",
    "jinja2": "jinja2>=3.1",
    "markupsafe": "jinja2>=3.1",
    "matplotlib": "matplotlib>=3.7",
    "numpy": "matplotlib>=3.7",
    "tomli": "tomli>=2",
}


def _leave(reason: str, remedy: str) -> None:
    sys.stderr.write(f"urakata: {reason}. {remedy}, or let URA_PYTHON name a Python that serves.\n")
    sys.exit(2)


def main() -> None:
    if sys.version_info < (3, 10):  # noqa: UP036
        _leave(f"{sys.executable} is older than Python 3.10", "Install a newer one")
    try:
        from urakata.cli import main as command

        command()
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in _NEEDED:
            raise
        _leave(
            f"{sys.executable} has no {missing}",
            f"Install it: {sys.executable} -m pip install '{_NEEDED[missing]}' (or your system's package)",
        )


if __name__ == "__main__":
    main()
