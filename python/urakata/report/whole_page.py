# SPDX-License-Identifier: BSD-3-Clause
"""The whole program as a part of the HTML page: a bar for each rank, and a row for each call site."""

from __future__ import annotations

from html import escape

from urakata.report.hang import early_ends
from urakata.report.units import percent, time_text
from urakata.report.whole import RankShare, Whole
from urakata.report.whole_text import LEGEND, RANK_HEADS, ROW_HEADS, headline, rank_cells, row_cells, shown_ranks

_LABEL, _WIDTH, _BAR = 160, 860, 22
_MPI, _PROGRAM = "#c0392b", "#d5dbdb"
_OPERATIONS = ("#c0392b", "#e67e22", "#f1c40f", "#8e44ad", "#2980b9", "#16a085")
_REST = "#7f8c8d"


def _in_mpi(rank: RankShare) -> str:
    return f"{percent(rank.share)} in MPI" if rank.end_known else "end unknown"


def _bars(whole: Whole) -> str:
    """Of each rank the run, and in it the time inside MPI by operation."""
    ranks = shown_ranks(whole)
    longest = max(rank.run_ns for rank in ranks) or 1
    totals: dict[str, int] = {}
    for row in whole.rows:
        totals[row.operation] = totals.get(row.operation, 0) + row.ns
    named = sorted(totals, key=lambda operation: totals[operation], reverse=True)[: len(_OPERATIONS)]
    colours = dict(zip(named, _OPERATIONS, strict=False))
    legend = [*colours.items(), ("other MPI calls", _REST), ("outside MPI", _PROGRAM)]
    top = 30
    out = [f'<svg viewBox="0 0 {_LABEL + _WIDTH + 120} {top + _BAR * len(ranks) + 6}" width="100%" font-size="12">']
    step = (_LABEL + _WIDTH + 100) / len(legend)
    for index, (name, colour) in enumerate(legend):
        x = 8 + step * index
        out.append(f'<rect x="{x:.0f}" y="4" width="12" height="12" fill="{colour}"/>')
        out.append(f'<text x="{x + 17:.0f}" y="14">{escape(name)}</text>')
    for index, rank in enumerate(ranks):
        y = top + _BAR * index
        out.append(
            f'<text x="{_LABEL - 8}" y="{y + 13}" text-anchor="end">rank {rank.rank}, {escape(rank.host)}</text>'
        )
        times = dict.fromkeys(colours, 0)
        for row in whole.rows:
            if row.operation in times:
                times[row.operation] += row.by_rank.get(rank.rank, 0)
        parts = [(operation, time, colours[operation]) for operation, time in times.items()]
        parts.append(("other MPI calls", rank.mpi_ns - sum(times.values()), _REST))
        parts.append(("outside MPI", rank.run_ns - rank.mpi_ns, _PROGRAM))
        x = float(_LABEL)
        for name, time, colour in parts:
            width = _WIDTH * max(0, time) / longest
            out.append(
                f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{_BAR - 5}" fill="{colour}">'
                f"<title>rank {rank.rank}: {escape(name)} {time_text(time)}</title></rect>"
            )
            x += width
        out.append(f'<text x="{x + 6:.1f}" y="{y + 13}">{_in_mpi(rank)}</text>')
    return "\n".join([*out, "</svg>"])


def _numeric(head: str) -> str:
    return "" if head == "host" else ' class="n"'


def whole_part(whole: Whole) -> str:
    heads = "".join(f'<th class="n">{head}</th>' for head in ROW_HEADS)
    rows = "".join(
        f"<tr><td>{escape(row.operation)}</td>"
        + "".join(f'<td class="n">{escape(cell)}</td>' for cell in row_cells(whole, row))
        + f"<td>{escape(row.place)}</td></tr>"
        for row in whole.rows
    )
    ends = "".join(f"<p>{escape(line)}.</p>" for line in early_ends(whole))
    few = len(shown_ranks(whole)) < len(whole.ranks)
    table = ""
    if len(whole.ranks) > 1:
        names = "".join(f"<th{_numeric(name)}>{name}</th>" for name in RANK_HEADS)
        lines = "".join(
            "<tr>"
            + "".join(
                f"<td{_numeric(name)}>{escape(cell)}</td>"
                for name, cell in zip(RANK_HEADS, rank_cells(rank), strict=True)
            )
            + "</tr>"
            for rank in shown_ranks(whole)
        )
        table = f"<table><tr>{names}</tr>{lines}</table>"
    note = f'<p class="dim">Of {len(whole.ranks)} ranks those with least, middle and most of MPI.</p>' if few else ""
    return (
        f"<h2>The whole program</h2><p>{escape(headline(whole))}.</p>{ends}{_bars(whole)}{note}{table}"
        f"<table><tr><th>call</th>{heads}<th>call site</th></tr>{rows}</table>"
        f'<p class="dim">{LEGEND}</p>'
    )
