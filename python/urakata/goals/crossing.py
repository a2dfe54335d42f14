# SPDX-License-Identifier: BSD-3-Clause
"""What Urakata's reports add to the records of bench/sites: what was predicted, and what crossed the links."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from urakata.goals.errors import MeasurementError
from urakata.sites_study.results import predicted_us


def add_reports(records: list[dict[str, Any]], folder: Path) -> None:
    """Adds `predicted_us`, where the model was asked, and `crossed_bytes`: what all ranks have sent to other sites,
    for each time that the operation was run. The latter counts all of the job, so it should have one size."""
    reports = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("rank-*.json"))]
    if not reports or any("sites" not in report for report in reports):
        raise MeasurementError("the reports know of no sites")
    sites = [site for report in reports if report["rank"] == 0 for site in report["call_sites"]]
    crossed = sum(way["bytes"] for report in reports for way in report["sites"]["ways"])
    for record in records:
        own = (record["bytes"], record["bytes"] // record["ranks"])
        for site in sites:
            if site["operation"].lower() == record["operation"] and site["bytes"] in own:
                record["predicted_us"] = predicted_us(site["why"])
        record["crossed_bytes"] = crossed / (len(record["samples_us"]) + 1)
