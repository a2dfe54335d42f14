# SPDX-License-Identifier: BSD-3-Clause
"""The cases of a JUnit file, as CTest and pytest write it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree


@dataclass(frozen=True)
class Case:
    """A test of one step. `failure` and `skipped` are the reason on one line, None where it was not so; `output` is the
    test's whole output and reason."""

    folder: str  # nothing from CTest, which gives the name again
    name: str
    file: str  # pytest's file of the test, relative to the tree; nothing from CTest
    failure: str | None
    skipped: str | None
    output: str

    def title(self) -> str:
        return f"{self.folder} {self.name}".strip()


def cases(file: Path) -> list[Case]:
    """No case where the step did not come to its tests, and left no file."""
    if not file.is_file():
        return []
    return [_case(element) for element in ElementTree.parse(file).getroot().iter("testcase")]


def _case(element: ElementTree.Element) -> Case:
    output = element.findtext("system-out") or ""
    failure = _found(element, "failure", "error")
    skipped = element.find("skipped")
    return Case(
        folder="" if element.get("classname") == element.get("name") else element.get("classname", ""),
        name=element.get("name", ""),
        file=element.get("file", ""),
        failure=None if failure is None else _why_failed(failure, output),
        skipped=None if skipped is None else _why_skipped(skipped.get("message") or "", output),
        output=output if failure is None else f"{failure.text or ''}\n{output}".strip(),
    )


def _found(element: ElementTree.Element, *kinds: str) -> ElementTree.Element | None:
    return next((found for kind in kinds if (found := element.find(kind)) is not None), None)


LEAST_CHARACTERS = 300


def _why_failed(failure: ElementTree.Element, output: str) -> str:
    """CTest gives no reason: there it is the output from where GoogleTest or a sanitizer tells of a failure, else the
    output's end."""
    said = failure.get("message") or failure.text
    if not said:
        begin = re.search(r"^.*(: Failure$|Sanitizer: |: runtime error: )", output, re.MULTILINE)
        said = output[begin.start() :] if begin else output[-LEAST_CHARACTERS:]
    return " ".join(said.split())


def _why_skipped(message: str, output: str) -> str:
    """CTest's own message only names the expression by which it knows a skipped test: GoogleTest printed the reason."""
    printed = re.search(r": Skipped\n(.*)", output)
    return " ".join((printed.group(1) if printed else message).split())
