# SPDX-License-Identifier: BSD-3-Clause
"""CPU numbers as the kernel writes them: CPUs 0 to 3 and 8 are the list 0-3,8 and the mask 10f."""

from __future__ import annotations

import pytest

from urakata import cpus


@pytest.mark.parametrize(
    ("numbers", "listed", "mask"),
    [
        ([], "", "0"),
        ([8, 0, 1, 2, 3], "0-3,8", "10f"),
        ([1], "1", "2"),
        ([31], "31", "80000000"),
        ([0, 32], "0,32", "1,00000001"),
        ([64], "64", "1,00000000,00000000"),
    ],
)
def test_lists_and_masks(numbers: list[int], listed: str, mask: str) -> None:
    assert cpus.list_text(numbers) == listed
    assert cpus.mask_text(numbers) == mask
    assert cpus.of_mask(f"{mask}\n") == sorted(numbers)


def test_what_is_no_mask() -> None:
    with pytest.raises(ValueError):
        cpus.of_mask("x")
