# SPDX-License-Identifier: BSD-3-Clause
"""Titles of figures are never cut: neither one of many words, nor one of a single long word."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import pytest
from study_records import made_up_results

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from urakata.compare import figure as compare_figure
from urakata.compare.side import ALONE, SPACE
from urakata.compare.trials import Run, Session, Trials
from urakata.kernel_study import figures as kernel_figures
from urakata.measure.plots import finish
from urakata.measure.titles import fitted, set_title
from urakata.overlap_study import plots
from urakata.sites_study import figures as sites_figures
from urakata.solver_study import figures as solver_figures
from urakata.space_study import figures as space_figures

WORDS = "openmpi 5.0.11 on Intel(R) Xeon(R) Platinum 8480C with a name that has no end, 112 cores, " * 3


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[plt.Figure]:
    """The figures that are closed in a test; they stay as they were drawn."""
    found: list[plt.Figure] = []
    monkeypatch.setattr(plt, "close", found.append)
    return found


def assert_within(figure: plt.Figure) -> None:
    """Titles and the axes' labels lie in the figure."""
    figure.canvas.draw()
    labels = [label for axes in figure.axes for label in (axes.title, axes.xaxis.label, axes.yaxis.label)]
    assert figure.texts
    for text in (*figure.texts, *labels):
        extent = text.get_window_extent()
        assert not text.get_text() or -1 <= extent.x0 <= extent.x1 <= figure.bbox.x1 + 1, text.get_text()


@pytest.mark.parametrize("words", [WORDS, "/a/long/path" * 10, "short", "two\nlines"])
def test_a_title_is_broken_into_lines_that_fit(words: str) -> None:
    figure = plt.figure(figsize=(6, 4))
    set_title(figure, words, 12)
    assert_within(figure)
    assert "".join(fitted(figure, words, 12).split()) == "".join(words.split())
    plt.close(figure)


def test_the_studies_figures_are_not_cut(tmp_path: Path, drawn: list[plt.Figure]) -> None:
    for ranks in ((2,), (2, 4)):
        results = made_up_results(ranks=ranks, sizes=(8, 8192))
        plots.draw(plots.FIGURES[0], results, "iallgather", "paper", f"computation: paper; {WORDS}", tmp_path / "a.png")
    session = Session([Trials(ALONE, {0: Run(1.0)}), Trials(SPACE, {0: Run(0.5)})])
    compare_figure.draw(session, SPACE, "./app " + "--option " * 40, tmp_path / "a.svg")
    figure, axes = space_figures.begin_panel(7.5, 4.8)
    axes.plot([1], [1], label="host")
    space_figures.finish_panel(figure, axes, "Messages", WORDS, tmp_path / "a.png")
    assert len(drawn) == 4
    for one in drawn:
        assert_within(one)


def test_every_study_sets_its_titles_so() -> None:
    for module in (kernel_figures, sites_figures, solver_figures, space_figures, plots, compare_figure):
        assert module.finish is finish
