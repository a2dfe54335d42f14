# SPDX-License-Identifier: BSD-3-Clause
"""The reference in ./dev docs: each function of urakata.h, under the comment that stands above it there."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from urakata import paths


@pytest.fixture
def tree(monkeypatch: pytest.MonkeyPatch) -> Path:
    tree = paths.source_tree() or pytest.skip("this is no source tree")
    monkeypatch.syspath_prepend(tree / "cmake" / "site")
    for name in ("header", "rst", "options", "commands"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tree


HEADER = """/* All of it.
 */
#define URAKATA_API

/* --- Parts ---
 *
 *     use(it); */
typedef struct part part;

/* Both take `it`. */
URAKATA_API int one(part* it);
URAKATA_API int two(part* it,
                    int more);
"""

PAGE = """All of it.

Parts
-----

.. code-block:: c

   use(it);

.. c:struct:: part

.. c:function:: int one(part* it)
                int two(part* it, int more)

   Both take ``it``.
"""


@pytest.mark.usefixtures("tree")
def test_declarations_have_the_comment_above_them() -> None:
    import header
    import rst

    assert rst.page(*header.reference(HEADER)) == PAGE


def test_every_function_of_the_header_is_there(tree: Path) -> None:
    import header

    text = (tree / "include" / "urakata.h").read_text()
    declared = re.findall(r"^(?:URAKATA_API|static inline) [^(]*?(\w+)\(", text, re.MULTILINE)
    shown = re.findall(r"\b(ura_\w+)\((?=.*\)$)", "\n".join(header.reference(text)), re.MULTILINE)
    assert len(declared) > 20 and set(declared) <= set(shown)
    assert not {"ura_allocations", "ura_start_cost"} & set(declared)  # of shim/user/measuring.h
