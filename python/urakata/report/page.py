# SPDX-License-Identifier: BSD-3-Clause
"""The report as one HTML file that needs nothing else."""

from __future__ import annotations

from html import escape

from urakata.report.rank_lines import rank_lines
from urakata.report.summary import Row, Summary
from urakata.report.text import hidden_part, hidden_text, run_lines
from urakata.report.units import bytes_text, count, known_time, short_place, time_text
from urakata.report.verdict import verdict
from urakata.report.whole_page import whole_part

_STYLE = """
body{font:14px/1.5 system-ui,sans-serif;max-width:1200px;margin:2rem auto;padding:0 1rem;color:#222}
table{border-collapse:collapse;width:100%}th,td{padding:.3rem .6rem;border-bottom:1px solid #ddd;text-align:left}
td.n,th.n{text-align:right;white-space:nowrap}.dim{color:#666}
"""
_PARTS = (("start", "#c0392b"), ("test", "#e67e22"), ("wait", "#f1c40f"), ("overlapped", "#2e8b57"))
_LABEL, _WIDTH, _BAR = 300, 720, 26


def _plot(rows: list[Row]) -> str:
    """A bar for each site: the total time inside start, test and wait, and the time in flight behind computing."""
    longest = max((sum(row.times[name].sum for name, _ in _PARTS) for row in rows), default=0) or 1
    height = _BAR * len(rows) + 40
    out = [f'<svg viewBox="0 0 {_LABEL + _WIDTH + 100} {height}" width="100%" font-size="12">']
    for index, (name, colour) in enumerate(_PARTS):
        left = _LABEL + 170 * index
        text = "in flight behind computing" if name == "overlapped" else f"inside the {name}"
        out.append(
            f'<rect x="{left}" y="4" width="12" height="12" fill="{colour}"/><text x="{left + 17}" y="14">{text}</text>'
        )
    for index, row in enumerate(rows):
        y = 30 + _BAR * index
        label = escape(f"{index + 1}  {short_place(row.place)[-28:]}  {row.operation}")
        out.append(f'<text x="{_LABEL - 8}" y="{y + 14}" text-anchor="end">{label}</text>')
        x = float(_LABEL)
        for name, colour in _PARTS:
            width = _WIDTH * row.times[name].sum / longest
            title = f"{name}: {time_text(row.times[name].sum)}"
            out.append(
                f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{_BAR - 8}" fill="{colour}">'
                f"<title>{title}</title></rect>"
            )
            x += width
        total = time_text(sum(row.times[name].sum for name, _ in _PARTS))
        out.append(f'<text x="{x + 6:.1f}" y="{y + 14}">{total}</text>')
    return "\n".join([*out, "</svg>"])


def _list(lines: list[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>" if lines else ""


def _verdict(summary: Summary) -> str:
    if (said := verdict(summary)) is None:
        return ""
    return _answer(" ".join(said.sentences), said.command)


def _answer(words: str, command: str) -> str:
    return f"<p><b>{escape(words)}</b></p>" + (f"<pre>{escape(command)}</pre>" if command else "")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def page(summary: Summary) -> str:
    """The whole page."""
    heads = ("#", "call site", "operation", "bytes", "count", "start", "gap", "wait", "hidden", "engine", "algorithm")
    lines = []
    for number, row in enumerate(summary.rows, 1):
        means = (time_text(row.times[name].mean) for name in ("start", "gap", "wait"))
        advice = f"Can more be hidden? {_capital(row.advice)}" + f" ({row.reason})" * bool(row.reason)
        numeric = (bytes_text(row.bytes), str(row.started), *means, hidden_text(row))
        lines.append(
            f"<tr><td>{number}</td><td>{escape(row.place)}</td><td>{escape(row.operation)}</td>"
            + "".join(f'<td class="n">{escape(cell)}</td>' for cell in numeric)
            + f"<td>{escape(row.engine)}</td><td>{escape(row.algorithm)}</td></tr>"
            f'<tr><td></td><td colspan="10" class="dim">{escape(advice)}</td></tr>'
        )
    sites = "".join(
        f"<tr><td>{escape(row.operation)}</td><td>{row.carrier}</td>"
        + "".join(
            f'<td class="n">{cell}</td>'
            for cell in (
                row.messages,
                "-" if row.bytes is None else bytes_text(row.bytes),
                known_time(row.wait_ns),
                hidden_part(row),
            )
        )
        + f"<td>{escape(row.place)}</td></tr>"
        for row in summary.messages
    )
    columns = ("message", "carrier", "count", "bytes", "waited", "hidden", "call site")
    messages = (
        f"<h2>The program's own messages</h2><table><tr>{''.join(f'<th>{head}</th>' for head in columns)}</tr>"
        f"{sites}</table>"
        if sites
        else ""
    )
    of_run = _list(run_lines(summary))
    of_ranks = f"<h2>Ranks</h2>{_list(lines_of_ranks)}" if (lines_of_ranks := rank_lines(summary.ranks)) else ""
    whole = whole_part(summary.whole) if summary.whole is not None else ""
    following = _answer(*summary.next) if summary.next is not None else ""
    missing = "".join(f"<p>{escape(line)}</p>" for line in summary.gaps)
    head = "".join(f"<th>{word}</th>" for word in heads)
    collectives = (
        f"<h2>Collectives that Urakata handled</h2>{_plot(summary.rows)}"
        f"<h2>Their call sites</h2><table><tr>{head}</tr>{''.join(lines)}</table>"
        if lines
        else ""
    )
    ranks = ", ".join(part for part in (count(summary.size, "rank"), summary.mpi_library) if part)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Urakata report</title><style>{_STYLE}</style>'
        f"<h1>Urakata report</h1><p>{escape(summary.program)}<br>{escape(ranks)}</p>{missing}"
        f"{_verdict(summary)}{following}{whole}{of_run}{collectives}{messages}{of_ranks}</html>\n"
    )
