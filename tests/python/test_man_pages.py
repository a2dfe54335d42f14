# SPDX-License-Identifier: BSD-3-Clause
"""Man pages of programs are their --help as paragraphs, so that a terminal of any width can fill them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from urakata import paths


@pytest.fixture(scope="module")
def pages() -> Any:
    if not (tree := paths.source_tree()):
        pytest.skip("needs the source tree")
    spec = importlib.util.spec_from_file_location("man_pages", tree / "cmake" / "man_pages.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


HELP = """Usage: tool [OPTION]...

Does it. It belongs
between two others:

  tool -n 4

Options:
  --many N        How many
  -o, --out FILE  Where to
"""

PAGE = r"""
.SH SYNOPSIS
.B tool [OPTION]...
.SH DESCRIPTION
.PP
Does it. It belongs
between two others:
.IP "" 4
tool \-n 4
.PP
Options:
.TP
.B \-\-many N
How many
.TP
.B \-o, \-\-out FILE
Where to
.SH SEE ALSO
"""


def test_options_and_examples_of_a_program_are_paragraphs(pages: Any, tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text(f"#!/bin/sh\ncat <<'END'\n{HELP}END\n")
    tool.chmod(0o755)
    text = pages.program_page(tool, "1.0")
    assert PAGE in text and "\ntool \\- Does it\n" in text and ".nf" not in text


def test_what_is_for_experts_has_a_section_of_its_own(pages: Any, tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text(
        "#!/bin/sh\nprintf 'Usage: tool\\n\\nDoes it.\\n\\n  --expert  More\\n'\n"
        "[ \"$2\" != --expert ] || printf '\\nFor experts:\\nTake care.\\n\\n  --deep N  How deep\\n'\n"
    )
    tool.chmod(0o755)
    section = "\n.SH FOR EXPERTS\nTake care.\n.TP\n.B \\-\\-deep N\nHow deep\n.SH SEE ALSO\n"
    assert section in pages.program_page(tool, "1.0")


def test_only_examples_of_a_command_are_not_filled(pages: Any) -> None:
    command = SimpleNamespace(
        epilog="\n[bold]Examples[/bold]\n\n  tool one\n      # first\n\n  tool two\n\nExit code: 0.\n"
    )
    lines = "\n".join(pages.epilog_lines(".SH EXAMPLES", command)).splitlines()
    examples = [".nf", ".in 3n", "tool one", "    # first", "tool two", ".in", ".fi"]
    assert [line for line in lines if line not in ("", ".PP")] == [".SH EXAMPLES", *examples, "Exit code: 0."]
