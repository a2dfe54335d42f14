"""Each command of `urakata`, and each group of commands, shows an example in its --help."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

typer_main = pytest.importorskip("typer.main")

from urakata import cli  # noqa: E402


def helps(command: object, name: str) -> Iterator[tuple[str, str]]:
    """(command, what stands at the end of its --help) for it and all below it."""
    yield name, getattr(command, "epilog", None) or ""
    for word, below in getattr(command, "commands", {}).items():
        yield from helps(below, f"{name} {word}")


def test_each_help_has_an_example() -> None:
    found = dict(helps(typer_main.get_command(cli.build_app()), "urakata"))
    assert "urakata kernel attach" in found
    found.pop("urakata schedule")  # whose --help is that of the program urakata-schedule
    without = [name for name, epilog in found.items() if "Example" not in epilog or f"  {name}" not in epilog]
    assert without == []
