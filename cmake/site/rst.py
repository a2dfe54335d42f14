# SPDX-License-Identifier: BSD-3-Clause
"""reStructuredText from plain text, for the pages that are made from sources."""

from __future__ import annotations

import re
import textwrap

INDENT = "   "


def title(text: str, line: str = "=") -> str:
    return f"{text}\n{line * len(text)}"


def escaped(text: str) -> str:
    """Plain text, in which `this` is code."""

    def part(match: re.Match[str]) -> str:
        return f"``{' '.join(match[1].split())}``" if match[1] else f"\\{match[0]}"

    return re.sub(r"`([^`]+)`|[\\*`|_<>]", part, text)


def indented(text: str) -> str:
    return textwrap.indent(text, INDENT)


def code(text: str, language: str = "none") -> str:
    return f".. code-block:: {language}\n\n{indented(textwrap.dedent(text))}"


def described(directive: str, names: list[str], text: str) -> str:
    """What the directive describes under these names, and the text about it."""
    start = f".. {directive}:: "
    return start + f"\n{' ' * len(start)}".join(names) + (f"\n\n{indented(text)}" if text else "")


def page(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"
