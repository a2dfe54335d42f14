# SPDX-License-Identifier: BSD-3-Clause
"""Each command of `urakata`, and each group of commands, shows an example in its --help."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

typer_main = pytest.importorskip("typer.main")

from urakata import cli, commands  # noqa: E402
from urakata.renamed import shown  # noqa: E402


def helps(command: object, name: str) -> Iterator[tuple[str, str]]:
    """(command, what stands at the end of its --help) for it and all below it."""
    yield name, getattr(command, "epilog", None) or ""
    for word, below in shown(command):
        yield from helps(below, f"{name} {word}")


@pytest.mark.parametrize(("name", "of_a_program"), [("run", True), ("compare", True), ("check", False)])
def test_a_command_that_starts_a_job_takes_np_and_says_which_mpi(name: str, of_a_program: bool) -> None:
    """Only where there is a program the MPI can be the one that it is linked with."""
    options = {option.name: option for option in typer_main.get_command(cli.build_app()).commands[name].params}
    assert "-np" in options["ranks"].opts
    assert ("program is linked with" in options["mpi"].help) is of_a_program


def test_each_help_has_an_example() -> None:
    found = dict(helps(typer_main.get_command(cli.build_app()), "urakata"))
    assert "urakata kernel attach" in found
    found.pop("urakata schedule")  # whose --help is that of the program urakata-schedule
    without = [name for name, epilog in found.items() if "Example" not in epilog or f"  {name}" not in epilog]
    assert without == []


def test_no_example_is_broken_at_80_columns() -> None:
    """Help leaves one column free at each side. Comments are on lines of their own, so that examples can be copied."""
    found = dict(helps(typer_main.get_command(cli.build_app()), "urakata"))
    long = [
        line for epilog in found.values() for line in epilog.splitlines() if line.startswith("  ") and len(line) > 78
    ]
    assert long == []


def test_each_help_text_is_written_once() -> None:
    """Options that several commands have are in job_options.py, hosts/options.py and bench/options.py."""
    folder = Path(commands.__file__).parent
    found = Counter(
        text
        for file in folder.rglob("*.py")
        for text in re.findall(r'help=f?"([^"]{15,})"', file.read_text(encoding="utf-8"))
    )
    assert [text for text, times in found.items() if times > 1] == []


def test_a_command_by_an_earlier_name_does_as_the_new_one(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """With one line on stderr; help does not list it."""
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr("urakata.hosts.instance.running", lambda instance: f"/of-{instance}")
    monkeypatch.setattr("urakata.hosts.long_links.command_all", lambda *words: asked.append(words))
    app = typer_main.get_command(cli.build_app())
    for words in (["hosts", "cut"], ["hosts", "links", "cut"]):
        app([*words, "0-1", "--one-way", "--instance", "7"], standalone_mode=False)
    assert asked == [("/of-7", "0-1", "cut", True)] * 2
    assert capfd.readouterr().err == "urakata: `urakata hosts cut` is now `urakata hosts links cut`\n"
    assert [name for name, _ in shown(app.commands["hosts"])] == ["check", "links", "run"]


def test_links_of_hosts_are_shown_without_a_word(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("urakata.hosts.instance.running", lambda instance: f"/of-{instance}")
    monkeypatch.setattr("urakata.hosts.long_links.all_links", lambda _folder: [(0, 1)])
    monkeypatch.setattr("urakata.hosts.long_links.ask", lambda folder, a, b, what: [folder, a, b, what])
    app = typer_main.get_command(cli.build_app())
    for words in (["--json"], ["show", "--json"]):
        app(["hosts", "links", *words], standalone_mode=False)
        assert json.loads(capfd.readouterr().out) == {"0-1": ["/of-None", 0, 1, "stats"]}
    with pytest.raises(Exception, match="options stand behind show"):
        app(["hosts", "links", "--json", "show"], standalone_mode=False)
