# SPDX-License-Identifier: BSD-3-Clause
"""What the checker of documents finds, and what it lets pass."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

TREE = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def documents() -> ModuleType:
    spec = importlib.util.spec_from_file_location("documents", TREE / "tests" / "documents.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["documents"] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def found(documents: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Writes a document into an empty tree, and gives (line, rule) of all that is wrong with it."""
    commands = documents.commands(TREE)
    monkeypatch.setattr(documents, "commands", lambda _: commands)

    def check(text: str, file: str = "docs/page.md") -> list[tuple[int, str]]:
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return [(fault.line, fault.rule) for fault in documents.faults_of(tmp_path, file)]

    return check


def test_a_line_has_100_columns_and_a_row_200(found) -> None:
    long = "x" * 101
    assert found(f"short\n\n{long}\n") == [(3, "line")]
    assert found(f"| {long} |\n") == []
    assert found(f"| {long} {long} |\n") == [(1, "line")]


def test_code_and_a_lonely_link_may_be_longer(found) -> None:
    long = "x" * 101
    assert found(f"```\n{long}\n```\n\n    {long}\n") == []
    assert found(f"- [{long}](https://example.org/)\n") == []
    assert found(f"see [{long}](https://example.org/)\n") == [(1, "line")]


def test_a_sentence_has_40_words_and_30_in_the_readme(found) -> None:
    """The line is that in which the sentence begins."""
    words = "word\n" * 40
    assert found(f"{words}.\n") == []
    assert found(f"First.\n{words}word. Last.\n") == [(2, "sentence")]
    assert found("word " * 15 + "\n" + "word " * 16, "README.md") == [(1, "sentence")]


def test_code_is_one_word_and_an_abbreviation_ends_no_sentence(found) -> None:
    assert found("word\n" * 39 + "`a b\nc`\n") == []
    assert found("word\n" * 20 + "e.g.\n" + "word\n" * 20) == [(1, "sentence")]


def test_a_paragraph_a_list_item_and_a_cell_have_120_words(found) -> None:
    sentence = ("word\n" * 20 + ".\n") * 3
    assert found(sentence + sentence + "one.\n") == [(1, "paragraph")]
    assert found(f"- {sentence}- {sentence}\n{sentence}") == []
    assert found("| " + "w w w w w. " * 15 + "|" + "w w w w w. " * 2 + "|\n") == []


def test_links_and_anchors_lead_somewhere(found) -> None:
    found("# The *first* one: `x`\n", "docs/other.md")
    text = "[a](other.md) [b](other.md#the-first-one-x)\n[c](#here) `[d](e)`\n\n# Here\n"
    assert found(text) == []
    assert found("[a](others.md)\n\n[b](other.md#second)\n[c](#here)\n") == [(1, "link"), (3, "link"), (4, "link")]


def test_paths_of_sources_are_there(found, tmp_path: Path) -> None:
    (tmp_path / "src" / "base").mkdir(parents=True)
    assert found("`src/base/` and `src/NAME`\nand `src/bass/log.hpp`\n") == [(2, "path")]


def test_some_documents_have_a_length(found) -> None:
    assert found("\n" * 121, "README.md") == [(121, "length")]
    assert found("\n" * 61, "docs/design/decisions/one.md") == [(61, "length")]
    assert found("\n" * 299, "docs/design/architecture.md") == found("\n" * 999, "docs/long.md") == []


GOOD = """
```
$ urakata run -n 4 --report -- ./app --an-option-of-the-program
urakata says what no command is
$ URAKATA_ENGINE=poll mpirun -n 4 urakata-exec --set NAP_US=50 --space -- ./app | tee out   # comment
```

```
urakata hosts run -n 2 \\
  -- urakata-exec --engine=poll -- ./app
./dev test --full jobs && ./dev goals --list
```

`urakata report` and `./dev lint ...`
"""


def test_commands_as_they_are_pass(found) -> None:
    assert found(GOOD) == []


@pytest.mark.parametrize(
    "wrong",
    [
        "urakata rum -n 4 -- ./app",
        "urakata run -n 4 --no-such-option -- ./app",
        "urakata bench spaces --quick",
        "urakata run -n 4 --set NO_SUCH=1 -- ./app",
        "sudo urakata kernel attach",
        "mpirun -n 4 urakata-exec --no-such-option -- ./app",
        "urakata hosts run -n 2 -- urakata-exec --no-such-option 1 -- ./app",
        "cd build && ./dev tests",
        "./dev test --full nothing",
        "./dev goals --lists",
    ],
)
def test_commands_that_do_not_exist_are_found(found, wrong: str) -> None:
    assert found(f"```\n{wrong}\n```\n") == [(2, "command")]


def test_an_argument_may_be_left_out_in_text_only(found) -> None:
    assert found("`urakata run --space`\n") == []
    assert found("```\nurakata run --space\n```\n") == [(2, "command")]


def test_of_changes_only_lines_and_links_are_checked(found) -> None:
    text = "word\n" * 130 + "`urakata rum` [a](nowhere.md)\n"
    assert found(text, "CHANGELOG.md") == [(131, "link")]


def test_a_fault_says_where_it_is_and_what_to_do(documents: ModuleType) -> None:
    fault = documents.Fault("docs/a.md", 3, "line", "101 columns; break the line, 100 at most")
    assert str(fault) == "docs/a.md:3: line: 101 columns; break the line, 100 at most"
