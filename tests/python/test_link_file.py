# SPDX-License-Identifier: BSD-3-Clause
"""Option LINK_RATES: the user's file of what links between sites carry, in urakata-exec and `urakata check`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from urakata import paths, site_links

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

try:
    EXEC = str(paths.program("urakata-exec"))
except paths.NotFoundError as reason:
    pytest.skip(str(reason), allow_module_level=True)

RATES = "delay_ms = 8\nstream_mbit = 24\npair_mbit = 96\nlink_mbit = 384\n"
LINK = f'[[link]]\none = ["a1", "a2"]\nother = ["b*"]\n{RATES}'


def run(*arguments: str, home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """In the folder `home`, whose .config is the user's."""
    names = ("URAKATA_", "XDG_", "OMPI_", "PMI", "SLURM")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(names)}
    return subprocess.run(
        [EXEC, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd=home,
        env={**clean, "HOME": str(home), **environment},
    )


def handed_on(*arguments: str, home: Path, **environment: str) -> str:
    done = run(*arguments, "--", "/bin/sh", "-c", "echo $URAKATA_LINK_RATES", home=home, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_file_is_handed_on_to_the_ranks(tmp_path: Path) -> None:
    file = tmp_path / "links.toml"
    file.write_text(LINK + '[[link]]\none = ["a1"]\nother = ["b1"]\noutdated = true\n')
    text = f"links:a1 a2|b*|0.008|3000000|12000000|48000000|0|0|0;a1|b1|0|0|0|0|0|0|1;@{file}"
    assert handed_on("--link-rates", "links.toml", home=tmp_path) == text
    assert handed_on(home=tmp_path, URAKATA_LINK_RATES="links.toml") == text
    assert handed_on(home=tmp_path, URAKATA_LINK_RATES=text) == text
    assert handed_on("--link-rates", "measure", home=tmp_path) == "measure"
    info = run("--info", "--json", "--link-rates", "links.toml", home=tmp_path)
    (option,) = (one for one in json.loads(info.stdout) if one["name"] == "LINK_RATES")
    assert (option["value"], option["origin"]) == (str(file), "links.toml, command line")


def test_the_users_own_file_is_read_or_will_be_made(tmp_path: Path) -> None:
    assert handed_on(home=tmp_path) == f"links:@{tmp_path}/.config/urakata/links.toml"
    assert not (tmp_path / ".config").exists()
    assert handed_on(home=tmp_path, HOME="") == "measure"
    for folder, environment in ((".config", {}), ("other", {"XDG_CONFIG_HOME": str(tmp_path / "other")})):
        file = tmp_path / folder / "urakata" / "links.toml"
        file.parent.mkdir(parents=True)
        file.touch()
        assert handed_on(home=tmp_path, **environment) == f"links:@{file}"
    assert handed_on("--link-rates", "measure", home=tmp_path) == "measure"


def test_a_users_file_that_is_broken_or_anyones_is_not_used(tmp_path: Path) -> None:
    file = tmp_path / ".config" / "urakata" / "links.toml"
    file.parent.mkdir(parents=True)
    command = ("--", "/bin/sh", "-c", "echo $URAKATA_LINK_RATES")

    def not_used() -> str:
        done = run(*command, home=tmp_path)
        assert (done.returncode, done.stdout) == (0, "measure\n"), done.stderr
        return done.stderr

    file.write_text("[[link]\n")
    assert f"{file}:1: " in not_used()
    file.write_text(LINK)
    assert handed_on(home=tmp_path).endswith(f"@{file}")
    file.chmod(0o666)
    assert f"{file} may be written by anyone; the links between sites are measured" in not_used()
    file.chmod(0o644)
    if os.geteuid() == 0:
        os.chown(file, 12345, 12345)
        assert f"{file} is another user's" in not_used()


def test_other_ranks_need_not_have_the_file(tmp_path: Path) -> None:
    assert handed_on("--link-rates", "links.toml", home=tmp_path, OMPI_COMM_WORLD_RANK="1") == "measure"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[link]\n", "links.toml:1: "),
        ("\nlink = 3\n", "links.toml:2: link is none of them; tables [[link]] are all that such a file has"),
        ("[node]\nstep = 1\n", "links.toml:1: node is none of them"),
        (f'[[link]]\none = ["a"]\n{RATES}', "links.toml:1: a link without other; write the hosts of each of its sites"),
        (LINK.replace('["b*"]', "[]"), "links.toml:3: other is no list of hosts; write names of hosts, or patterns"),
        (LINK.replace('"b*"', "3"), "links.toml:3: other has something that is no host's name"),
        (
            LINK.replace("link_mbit = 384\n", ""),
            "links.toml:1: a link without link_mbit; write it, or remove the table",
        ),
        (LINK.replace("384", "95"), "links.toml:7: link_mbit is below pair_mbit"),
        (LINK.replace("= 96", "= 9"), "links.toml:6: pair_mbit is below stream_mbit"),
        (LINK.replace("= 8", "= -8"), "links.toml:4: delay_ms cannot be that; write a number from 0.001 to 60000 ms"),
        (LINK.replace("= 24", "= nan"), "links.toml:5: stream_mbit cannot be that"),
        (
            LINK + "los_percent = 1\n",
            "links.toml:8: los_percent is nothing that a link has; did you mean loss_percent?",
        ),
        (LINK + "outdated = 1\n", "links.toml:8: outdated is true or false"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "links.toml").write_text(text)
    done = run("--link-rates", "links.toml", "--", "/bin/echo", "started", home=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("value", ["nowhere.toml", "."])
def test_a_file_that_is_not_there_is_refused(tmp_path: Path, value: str) -> None:
    done = run("--link-rates", value, "--", "/bin/echo", "started", home=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"LINK_RATES: {value}: " in done.stderr
    assert f"`urakata check --links --file {value}` makes it" in done.stderr


def test_new_tables_replace_those_of_the_same_hosts() -> None:
    other = LINK.replace('"b*"', '"c"')
    text = f"# mine\n{LINK}\n# stays\n{other}"
    new = "\n" + LINK.replace("384", "200")
    done = site_links.merged(text, new)
    assert done.startswith("# mine\n") and "# stays" not in done.split("[[link]]")[0]
    assert [(link["other"], link["link_mbit"]) for link in tomllib.loads(done)["link"]] == [(["c"], 384), (["b*"], 200)]
    assert site_links.merged("", new) == site_links.HEADER + new
    assert site_links.merged(done, new) == done


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    file = tmp_path / "links.toml"
    new = "\n" + LINK.replace("384", "200")
    site_links.keep(file, new)
    assert file.read_text() == site_links.HEADER + new
    file.chmod(0o600)
    link = tmp_path / "link.toml"
    link.symlink_to(file)
    site_links.keep(link, "\n" + LINK)
    assert link.is_symlink() and file.stat().st_mode & 0o777 == 0o600
    assert [one["link_mbit"] for one in tomllib.loads(file.read_text())["link"]] == [384]
    broken = tmp_path / "broken.toml"
    broken.write_text("[[link]\n")
    with pytest.raises(tomllib.TOMLDecodeError):
        site_links.keep(broken, new)
    assert broken.read_text() == "[[link]\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken.toml", "link.toml", "links.toml"]


class Jobs:
    """Jobs that measure one link each, of three, and add it to the file."""

    def __init__(self) -> None:
        self.count = 0

    def run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        self.count += 1
        words = dict(pairwise(command))
        with Path(words["--link-rates"]).open("a") as file:
            file.write(f"entry {self.count}\n")
        report = Path(words["--report"])
        report.mkdir(exist_ok=True)
        sites = {"ways": [{}, {}], "links": [{}] * min(self.count, 3)}
        (report / "rank-0.json").write_text(json.dumps({"sites": sites}))
        return subprocess.CompletedProcess(command, 0, "", "")


def test_jobs_are_asked_until_all_links_are_known(tmp_path: Path) -> None:
    jobs = Jobs()
    assert site_links.ask(jobs.run, [], tmp_path).entries == "entry 1\nentry 2\nentry 3\n"
    assert jobs.count == 3


def test_a_file_that_is_none_is_left_alone() -> None:
    with pytest.raises(tomllib.TOMLDecodeError):
        site_links.merged("[[link]\n", LINK)
