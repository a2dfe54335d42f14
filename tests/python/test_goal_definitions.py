# SPDX-License-Identifier: BSD-3-Clause
"""What bench/goals.toml defines, and what is said of definitions that are wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from goal_cases import goal

from urakata.goals import definitions, figures, readers
from urakata.goals.definitions import Definitions
from urakata.goals.errors import MeasurementError
from urakata.goals.samples import Samples

ROOT = Path(__file__).resolve().parents[2]

# The performance targets, in the order in which `./dev goals --list` shows it.
TARGETS = [
    "nbc-start-own-us",
    "nbc-start-thread-us",
    "nbc-poll-geomean",
    "nbc-poll-worst",
    "nbc-hosts-geomean",
    "nbc-hosts-ibcast-large",
    "suite-hosts-poll",
    "suite-hosts-default",
    "p2p-hosts-8b",
    "p2p-hosts-stream",
    "p2p-connections-rate",
    "p2p-connections-vs-links",
    "p2p-hosts-overall",
    "p2p-hosts-hidden",
    "p2p-any-source",
    "halo-space",
    "halo-space-worst",
    "halo-space-calls",
    "halo-space-iteration",
    "halo-space-messages",
    "halo-space-by-hand",
    "halo-space-by-hand-exchange",
    "halo-hosts",
    "halo-hosts-overall",
    "cg-exchange",
    "cg-exchange-space",
    "cg-double-buffer",
    "cg-double-buffer-edges",
    "halo-start-ns",
    "halo-start-edges-ns",
    "nbc-shared-8b-us",
    "nbc-shared-vs-mpich-async",
    "overlap-hidden",
    "overlap-theft-compute",
    "overlap-theft-memory",
    "overlap-overall-worst",
    "bypass-ns",
    "report-cost",
    "report-late",
    "report-lateness",
    "report-late-mean",
    "report-lateness-worst",
    "idle-switches",
    "space-8b-vs-line",
    "space-8b-vs-openmpi",
    "space-8b-vs-intel",
    "persistent-8b-own",
    "persistent-8b-host",
    "space-contiguous-vs-openmpi",
    "space-contiguous-vs-mpich",
    "space-rate-vs-openmpi",
    "space-miniapp-contiguous",
    "space-miniapp-layout",
    "space-miniapp-worst",
    "space-miniapp-contiguous-first",
    "space-miniapp-layout-first",
    "space-host-allreduce",
    "space-host-allreduce-settings",
    "coll-space-geomean-2",
    "coll-space-worst",
    "allreduce-8b-space",
    "coll-space-pages",
    "coll-space-geomean-4",
    "coll-space-mpich",
    "icoll-space-geomean",
    "icoll-space-worst",
    "idle-progress-wait",
    "idle-progress-whole",
    "coll-space-allreduce-large",
    "coll-space-alltoall-large",
    "coll-space-barrier-line",
    "coll-space-barrier",
    "coll-space-barrier-crowded",
    "space-memory-16",
    "space-memory-16-settings",
    "space-memory-64",
    "space-own-kib-per-rank",
    "space-start-ms",
    "space-start-settings-ms",
    "space-malloc-storm",
    "layout-patterns-vs-openmpi",
    "layout-sweep-worst",
    "layout-choice-regret",
    "kernel-hop",
    "kernel-stolen",
    "kernel-vs-test",
    "kernel-small",
    "kernel-cpu",
    "kernel-large",
    "kernel-lost-fine",
    "kernel-elapsed-coarse",
    "kernel-elapsed-small",
    "kernel-submit-ns",
    "xdp-allreduce",
    "xdp-own-operation",
    "xdp-exact",
    "sites-scatter-rate",
    "sites-scatter-vs-host",
    "sites-messages-vs-host",
    "sites-messages-rate",
    "sites-gather-rate",
    "sites-gather-vs-host",
    "sites-scatter-vs-host-links",
    "sites-scatter-worst",
    "sites-choice-regret",
    "sites-collectives-bcast",
    "sites-collectives-allgather",
    "sites-collectives-allreduce",
    "sites-small",
    "sites-worst",
    "sites-choice-regret-median",
    "sites-model-error",
    "sites-bytes",
    "sites-unequal",
    "sites-loss",
    "sites-loss-bbr",
    "sites-cut",
    "sites-none",
    "sites-gather-vs-host-links",
    "sites-scatter-vs-host-links-large",
    "sites-collectives-bcast-large",
    "sites-collectives-allgather-large",
    "sites-collectives-allreduce-large",
    "sites-choice-streams-regret",
    "sites-choice-streams-regret-median",
    "install-seconds",
    "demo-seconds",
]


@pytest.fixture(scope="module")
def defined() -> Definitions:
    return definitions.load(ROOT / "bench" / "goals.toml")


def test_every_target_is_defined_and_can_be_figured(defined: Definitions) -> None:
    assert list(defined.goals) == TARGETS
    for target in defined.goals.values():
        assert target.figure in figures.FIGURES, target.name
        measured = defined.sessions[target.session]
        assert measured.kind in readers.READERS, measured.name
        assert measured.seconds < 50, measured.name
        kind = measured.kind
        files = (f"bench/{kind}.c", f"bench/{kind}/{kind}.c", f"examples/{kind}.c", f"examples/{kind}.py")
        assert any((ROOT / file).is_file() for file in files)
        sides = {side.name for side in measured.sides}
        for key in ("side", "over", "under", "beside"):
            named = target.parameters.get(key, [])
            assert set([named] if isinstance(named, str) else named) <= sides, target.name
        # Each figure reads its parameters before it looks for samples.
        with pytest.raises(MeasurementError, match="has measured no"):
            figures.FIGURES[target.figure](target, Samples())


def test_what_the_readme_says_binds(defined: Definitions) -> None:
    """Each row of its table of measurements, and what stands below the plot. Some forty bind, so that each counts."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z0-9-]+)`", readme)) & defined.goals.keys()
    rows = re.findall(r"^\| .* \| `([a-z0-9-]+)` \|$", readme, re.MULTILINE)
    binding = {target.name for target in defined.goals.values() if target.binding}
    assert len(rows) > 3 and set(rows) <= named <= binding
    assert 35 <= len(binding) <= 45


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[sessions", "Expected"),
        ("[sessions.s]\nkind='nbc'\nseconds=1\n[goals]", "sides"),
        (
            "[sessions]\n[goals.g]\ncompares='c'\nunit='u'\ntarget=1\ndirection='up'\nsession='s'\nfigure='f'",
            "direction",
        ),
        (
            "[sessions]\n[goals.g]\ncompares='c'\nunit='u'\ntarget=1\ndirection='at most'\nsession='s'\nfigure='f'",
            "no s",
        ),
    ],
)
def test_bad_definitions_name_what_is_wrong(text: str, words: str) -> None:
    with pytest.raises(MeasurementError, match=words):
        definitions.parse(text)


def test_met_depends_on_the_direction() -> None:
    assert goal("f", 1.0).met_by(1.0) and not goal("f", 1.0).met_by(1.01)
    assert goal("f", 0.85, "at least").met_by(0.85) and not goal("f", 0.85, "at least").met_by(0.84)
