# SPDX-License-Identifier: BSD-3-Clause
"""What is done to single connections across a long link while a job runs: cut, or given rates of their own."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, Protocol

from urakata.goals.errors import MeasurementError

POLL_SECONDS = 0.02
LARGE = 1 << 20
"""Bytes by which a connection of the measured operation is told from others."""


class Links(Protocol):
    """Of Hosts, what is needed here."""

    def control(self, first: int, second: int, command: str) -> dict[str, Any]:
        """Gives a command to the long link between two sites."""


class Watch:
    """A thread that acts once on the connections from site 0 to site 1, as the side's `flows` say.

    cut_after: when so many bytes have arrived over all of them, the one that has brought most is cut, until the end.
    rates_mbit: as soon as so many connections have brought LARGE bytes, each gets its rate.

    Used as a context beside the job; at its end MeasurementError where nothing was done.
    """

    def __init__(self, links: Links, flows: Mapping[str, Any]) -> None:
        self._links = links
        self._flows = flows
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._acted: list[str] = []
        self._failure: Exception | None = None

    def __enter__(self) -> Watch:
        self._before = self._brought()
        self._thread.start()
        return self

    def __exit__(self, kind: object, *_rest: object) -> None:
        self._end.set()
        self._thread.join()
        for flow in self._acted:
            if "cut_after" in self._flows:
                self._links.control(0, 1, f"restore 0 {flow}")
        if kind is None and not self._acted:
            raise MeasurementError(
                f"no connection was {'cut' if 'cut_after' in self._flows else 'slowed'} in time"
            ) from (self._failure)

    def _brought(self) -> dict[str, int]:
        """Bytes of each connection, named as commands name it."""
        flows = self._links.control(0, 1, "stats")["directions"][0]["flows"]
        return {f"{flow['from']} {flow['to']}": flow["delivered_bytes"] for flow in flows}

    def _run(self) -> None:
        try:
            while not self._end.wait(POLL_SECONDS) and not self._acted:
                self._look()
        except Exception as error:  # told where the context ends
            self._failure = error

    def _look(self) -> None:
        brought = {flow: total - self._before.get(flow, 0) for flow, total in self._brought().items()}
        most_first = sorted(brought, key=lambda flow: -brought[flow])
        if (after := self._flows.get("cut_after")) is not None:
            if sum(brought.values()) >= after:
                self._links.control(0, 1, f"cut 0 {most_first[0]}")
                self._acted = most_first[:1]
            return
        rates = self._flows["rates_mbit"]
        large = [flow for flow in most_first if brought[flow] >= LARGE]
        if len(large) == len(rates):
            for flow, rate in zip(sorted(large), rates, strict=True):
                self._links.control(0, 1, f"flow-rate 0 {flow} {round(1e6 * rate)}")
            self._acted = large
