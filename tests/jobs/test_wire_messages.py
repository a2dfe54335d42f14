# SPDX-License-Identifier: BSD-3-Clause
"""The program's own messages between test hosts by transport wire: what is tested of messages in a space, and ends."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from broken_links import cut, wait_until_it_works
from false_drivers import driver
from jobs import FULL, Outcome, compiled, drawn_seed, named, run_job
from merging import merged, needs_spawned
from spaces import compiled_text

from urakata import paths
from urakata.hosts import Hosts, LinkSettings, Sites, available
from urakata.report.summary import summarise

pytestmark = pytest.mark.skipif(not available()[0], reason=f"no test hosts here: {available()[1]}")

EXEC = str(paths.program("urakata-exec"))
ROUNDS = "400" if FULL else "30"
SECONDS = 900 if FULL else 120
ENGINES = ("poll", "thread")
NAMES = ("openmpi", "mpich")


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    with Hosts(count=3) as made:
        yield made


@pytest.fixture(scope="module")
def pair() -> Iterator[Hosts]:
    with Hosts(count=2) as made:
        yield made


@pytest.fixture(scope="module")
def sites() -> Iterator[Hosts]:
    with Hosts(sites=Sites([2, 1], LinkSettings(delay_us=2000, rate=400_000_000, flow_rate=100_000_000))) as made:
        yield made


def run(
    hosts: Hosts, name: str, program: list[str], *options: str, per_host: int = 1, env: dict[str, str] | None = None
) -> tuple[int, str]:
    mpi = named(name)
    done = hosts.run(
        [EXEC, "--verbose", "2", "--wire-messages", *options, "--", *program],
        ranks_per_host=per_host,
        mpi_name=mpi.launcher,
        env={**mpi.environment, **(env or {})},
        timeout=float(SECONDS),
    )
    return done.returncode, done.stdout + done.stderr


def random_messages(folder: Path, name: str, seed: int) -> list[str]:
    """MPICH 5 alone hangs in more traffic between hosts, and has that of communicators which Urakata does not know."""
    amount = ["--rounds", "2", "--messages", "10"] if name == "mpich" else ["--rounds", ROUNDS]
    return [str(compiled(named(name), "random_messages", folder)), *amount, "--seed", str(seed)]


def passes(outcome: tuple[int, str], ranks: int, linked: int) -> None:
    """The job has ended well, and each of so many ranks has reached so many others by wire."""
    code, output = outcome
    assert code == 0, output[-3000:]
    assert output.count(f"the program's messages to {linked} of {ranks} ranks go by transport wire") == ranks, output


@pytest.mark.parametrize("count", (2, 3))
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", NAMES)
def test_random_messages_arrive_as_sent(
    pair: Hosts, hosts: Hosts, folder: Path, name: str, engine: str, count: int
) -> None:
    program = random_messages(folder, name, count)
    passes(run(pair if count == 2 else hosts, name, program, "--engine", engine), count, count - 1)


@pytest.mark.parametrize("engine", ENGINES)
def test_random_messages_on_mpich_where_all_go_by_wire(hosts: Hosts, folder: Path, engine: str) -> None:
    """None on communicators that are the MPI library's, so as many as on Open MPI: modes, probes, wildcards,
    persistent."""
    program = [str(compiled(named("mpich"), "random_messages", folder)), "--rounds", ROUNDS, "--idup", "0"]
    outcome = run(hosts, "mpich", [*program, "--seed", drawn_seed()], "--engine", engine)
    passes(outcome, 3, 2)
    assert " messages, seed" in outcome[1], outcome[1]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", NAMES)
def test_merged_halves_equal_the_librarys(hosts: Hosts, folder: Path, name: str, engine: str) -> None:
    """A communicator of MPI_Intercomm_merge: its messages and collectives."""
    program = [str(compiled(named(name), "merged_intercommunicator", folder))]
    alone = sorted(line for line in run_job(named(name), 3, program).output.splitlines() if " got " in line)
    outcome = run(hosts, name, program, "--engine", engine)
    passes(outcome, 3, 2)
    assert sorted(line for line in outcome[1].splitlines() if " got " in line) == alone
    assert len(alone) == 3, alone


@pytest.mark.parametrize("others", ("alone", "wire"))
@pytest.mark.parametrize(
    "name",
    (
        "openmpi",
        pytest.param("mpich", marks=pytest.mark.skip(reason="MPICH 5 alone waits for ever in MPI_Comm_spawn there")),
    ),
)
def test_merged_with_ranks_that_they_start_they_are_the_librarys(
    pair: Hosts, folder: Path, tmp_path: Path, name: str, others: str
) -> None:
    """Two ranks whose messages go by wire and two that these start, on the MPI library alone or by wire, too."""
    mpi = named(name)
    program = str(compiled(mpi, "merged_intercommunicator", folder))
    of_one_world = merged(run_job(mpi, 4, [program]).output)
    start = [*([EXEC, "--wire-messages", "--"] if others == "wire" else []), program]
    room = {"PRTE_MCA_rmaps_default_mapping_policy": ":OVERSUBSCRIBE"}
    code, output = run(pair, name, [program, *start], "--report", str(tmp_path), env=room)
    needs_spawned(mpi, Outcome(code, output))
    # The launcher itself may die of that in the end, as it does without Urakata.
    assert code == 0 or "pmix_server_dyn.c" in output, output[-3000:]
    assert merged(output) == of_one_world and len(of_one_world) == 4, output[-3000:]
    assert output.count("the program's messages to 1 of 2 ranks go by transport wire") >= 2, output[-3000:]
    if code == 0:
        summary = summarise(tmp_path)
        assert summary.rows == [] and {row.carrier for row in summary.messages} == {"native"}


@pytest.mark.parametrize("connections", ("1", "3"))
@pytest.mark.parametrize("name", NAMES)
def test_long_messages_go_over_so_many_connections(hosts: Hosts, folder: Path, name: str, connections: str) -> None:
    """Also where a rank has another number of them."""
    mpi = named(name)
    setting = f"URAKATA_CONNECTIONS=$(({connections} + ${{PMI_RANK:-$OMPI_COMM_WORLD_RANK}}))"
    under = ["sh", "-c", f'export {setting}; exec "$@"', "sh", EXEC, "--verbose", "2", "--wire-messages"]
    done = hosts.run(
        [*under, "--engine", "thread", "--", *random_messages(folder, name, 4)],
        mpi_name=mpi.launcher,
        env=dict(mpi.environment),
        timeout=float(SECONDS),
    )
    passes((done.returncode, done.stdout + done.stderr), 3, 2)


@pytest.mark.skipif(not available(sites=True)[0], reason=f"no sites here: {available(sites=True)[1]}")
@pytest.mark.parametrize("engine", ENGINES if FULL else ("thread",))
def test_several_connections_where_each_is_limited(engine: str) -> None:
    """One site for the job, though the bed has two. The program checks what it gets."""
    limited = LinkSettings(delay_us=0, rate=400_000_000, flow_rate=100_000_000)
    program = [str(paths.program("bench/openmpi/sites")), "send", "4194304", "25", "1"]
    with Hosts(sites=Sites([1, 1], limited)) as narrow:
        code, output = run(narrow, "openmpi", program, "--engine", engine, "--sites", "one")
        assert "long messages to rank 1 go over 2 connections, which carry more than 1" in output, output[-3000:]
        passes((code, output), 2, 1)
        code, output = run(narrow, "openmpi", program, "--sites", "one", "--connections", "1")
        assert "connections, which carry" not in output, output[-3000:]
        passes((code, output), 2, 1)


@pytest.mark.skipif(not available(sites=True)[0], reason=f"no sites here: {available(sites=True)[1]}")
@pytest.mark.parametrize("engine", ENGINES)
def test_messages_between_sites(sites: Hosts, folder: Path, engine: str) -> None:
    """Two hosts here and one there: long messages go by lanes to the one, and not to the other."""
    passes(run(sites, "openmpi", random_messages(folder, "openmpi", 6), "--engine", engine), 3, 2)
    program = [str(compiled(named("openmpi"), "threads_messages", folder)), "3", "400" if FULL else "20"]
    code, output = run(sites, "openmpi", program, "--engine", engine)
    assert code == 0, output[-3000:]


@pytest.mark.skipif(not available(sites=True)[0], reason=f"no sites here: {available(sites=True)[1]}")
@pytest.mark.parametrize("engine", ENGINES)
def test_messages_between_sites_on_mpich(sites: Hosts, engine: str) -> None:
    """Which alone hangs in random_messages between sites. This program checks what it gets."""
    program = [str(paths.program("bench/mpich/sites")), "send", "20000,200000,20000000", "2", "2"]
    passes(run(sites, "mpich", program, "--engine", engine), 3, 2)


@pytest.mark.skipif(not available(sites=True)[0], reason=f"no sites here: {available(sites=True)[1]}")
def test_long_messages_between_sites_use_many_connections(sites: Hosts, tmp_path: Path) -> None:
    """The report tells what crossed."""
    program = [str(paths.program("bench/openmpi/sites")), "send", "3000000", "2", "2"]
    code, output = run(sites, "openmpi", program, "--engine", "poll", "--report", str(tmp_path))
    assert code == 0, output[-3000:]
    sent = [json.loads(file.read_text())["sites"]["ways"] for file in sorted(tmp_path.glob("rank-*.json"))]
    assert sent[0][0]["bytes"] >= 3 * 3_000_000 and sent[0][0]["connections"] > 1, sent


@pytest.mark.parametrize("engine", ENGINES)
def test_messages_inside_the_nodes_stay_with_the_library(pair: Hosts, folder: Path, engine: str) -> None:
    """Communicators of which the endpoint reaches some ranks, and wildcards that see both."""
    passes(run(pair, "openmpi", random_messages(folder, "openmpi", 5), "--engine", engine, per_host=2), 4, 2)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", NAMES)
def test_with_a_space_on_each_node(pair: Hosts, folder: Path, name: str, engine: str) -> None:
    outcome = run(pair, name, random_messages(folder, name, 7), "--engine", engine, "--space", per_host=2)
    passes(outcome, 4, 2)
    assert "ordinary process" not in outcome[1], outcome[1][-3000:]


@pytest.mark.parametrize(("per_host", "space"), ((1, ()), (2, ()), (2, ("--space",))))
@pytest.mark.parametrize("engine", ENGINES if FULL else ("thread",))
def test_exchanges_that_come_again(
    pair: Hosts, folder: Path, engine: str, per_host: int, space: tuple[str, ...]
) -> None:
    """Halos, neighbourhoods and matched persistent pairs, of ranks that share memory and of others."""
    mpi, ranks = named("openmpi"), 2 * per_host
    linked = ranks - per_host

    def by_wire(*program: str) -> str:
        outcome = run(pair, "openmpi", list(program), "--engine", engine, *space, per_host=per_host)
        passes(outcome, ranks, linked)
        return outcome[1]

    halos = by_wire(str(compiled(mpi, "random_halos", folder)), "300" if FULL else "20", str(ranks))
    assert "random_halos: right" in halos, halos[-3000:]
    by_wire(str(compiled(mpi, "matched_pairs", folder)), "--rounds", "3000" if FULL else "60", "--seed", str(ranks))
    neighbours = [str(compiled(mpi, "random_neighbours", folder)), "300" if FULL else "15", drawn_seed()]
    alone, found = (
        [line for line in output.splitlines() if line.startswith("topology")]
        for output in (run_job(mpi, ranks, neighbours).output, by_wire(*neighbours))
    )
    assert found == alone and len(found) == int(neighbours[1]), neighbours


@pytest.mark.parametrize("engine", ENGINES)
def test_exchanges_that_come_again_on_mpich(hosts: Hosts, folder: Path, engine: str) -> None:
    """Persistent sends and receives mixed with others, and halos; a rank a host."""
    for name, words in (
        ("matched_pairs", ["--rounds", "600" if FULL else "60", "--seed", "3"]),
        ("random_halos", ["20", "3"]),
    ):
        passes(run(hosts, "mpich", [str(compiled(named("mpich"), name, folder)), *words], "--engine", engine), 3, 2)


@pytest.mark.parametrize("level", range(4))
@pytest.mark.parametrize("engine", ("poll", "thread"))
def test_the_link_asks_the_library_for_no_threads(pair: Hosts, folder: Path, engine: str, level: int) -> None:
    """The MPI library gets the level that the program asks for."""
    outcome = run(
        pair, "openmpi", [str(compiled(named("openmpi"), "thread_level", folder)), str(level)], "--engine", engine
    )
    passes(outcome, 2, 1)
    assert outcome[1].count(f"asked {level}, told {level}, the MPI library has {level}, ") == 2, outcome[1]


# Between the MPI library and who looks for its MPI_Init_thread: the MPI library then allows no calls by several
# threads.
ONE_THREAD = """
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>
#include <string.h>
static int (*init_thread)(int*, char***, int, int*);
static int limited(int* argc, char*** argv, int required, int* provided) {
  return init_thread(argc, argv, required > 1 ? 1 : required, provided);  /* MPI_THREAD_FUNNELED */
}
unsigned la_version(unsigned version) { return version; }
unsigned la_objopen(struct link_map* map, Lmid_t space, uintptr_t* cookie) {
  (void)map, (void)space, (void)cookie;
  return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}
uintptr_t la_symbind64(Elf64_Sym* symbol, unsigned index, uintptr_t* from, uintptr_t* to, unsigned* flags,
                       const char* name) {
  (void)index, (void)from, (void)to, (void)flags;
  if (strcmp(name, "PMPI_Init_thread") != 0) return symbol->st_value;
  *(uintptr_t*)&init_thread = symbol->st_value;
  return (uintptr_t)limited;
}
"""


def test_where_the_library_allows_one_thread_progress_threads_move_messages_all_the_same(
    pair: Hosts, folder: Path, tmp_path: Path
) -> None:
    """Both ranks compute until what the other has sent is there: nobody else moves it."""
    audit = {"LD_AUDIT": compiled_text(tmp_path, "one_thread.so", ONE_THREAD, "-shared", "-fPIC")}
    options = ("--engine", "thread", "--placement", "shared")
    level = [str(compiled(named("openmpi"), "thread_level", folder)), "3"]
    outcome = run(pair, "openmpi", level, *options, env=audit)
    passes(outcome, 2, 1)
    assert outcome[1].count("asked 3, told 1, the MPI library has 1, progress threads: 1\n") == 2, outcome[1]
    outcome = run(
        pair, "openmpi", [str(compiled(named("openmpi"), "overlapped_messages", folder)), "come"], *options, env=audit
    )
    passes(outcome, 2, 1)
    assert outcome[1].count("right") == 2, outcome[1]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", NAMES)
def test_threads_at_once(hosts: Hosts, folder: Path, name: str, engine: str) -> None:
    program = [str(compiled(named(name), "threads_messages", folder)), "3", "400" if FULL else "20"]
    passes(run(hosts, name, program, "--engine", engine), 3, 2)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", NAMES)
def test_progress_while_a_rank_is_in_the_library(hosts: Hosts, folder: Path, name: str, engine: str) -> None:
    program = [str(compiled(named(name), "message_progress", folder))]
    passes(run(hosts, name, program, "--engine", engine), 3, 2)


@pytest.mark.parametrize("way", ("test", "testall", "testany", "testsome", "waitany", "waitsome", "get_status"))
@pytest.mark.parametrize("name", NAMES)
def test_both_ranks_send_first(pair: Hosts, folder: Path, name: str, way: str) -> None:
    passes(run(pair, name, [str(compiled(named(name), "send_before_receive", folder)), way]), 2, 1)


@pytest.mark.parametrize("name", NAMES)
def test_errors_are_those_of_the_library(pair: Hosts, folder: Path, name: str) -> None:
    """Truncation, and wrong ranks, tags, counts, types and buffers: the same classes, handlers and statuses as on one
    node, since between hosts Open MPI's MPI_Waitall may leave before all have ended."""
    mpi = named(name)
    program = [str(compiled(mpi, "message_errors", folder)), "all" if name == "openmpi" else "first"]
    alone = run_job(mpi, 2, program)
    code, output = run(pair, name, program, "--verbose", "0")
    assert code == 0 and output.splitlines() == alone.output.splitlines(), output[-3000:]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", NAMES)
def test_a_forked_child_touches_no_connection(pair: Hosts, folder: Path, name: str, engine: str) -> None:
    program = [str(compiled(named(name), "forks", folder)), "12"]
    passes(run(pair, name, program, "--engine", engine), 2, 1)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", NAMES)
def test_disconnecting_waits_for_requests_given_back(pair: Hosts, folder: Path, name: str, engine: str) -> None:
    passes(
        run(pair, name, [str(compiled(named(name), "disconnect_with_freed_requests", folder))], "--engine", engine),
        2,
        1,
    )


@pytest.mark.parametrize(
    ("space", "carriers"),
    (
        ((), {"wire", "wire or native"}),
        (("--space",), {"space", "wire", "space or wire"}),
    ),
)
def test_the_report_names_who_carries(
    pair: Hosts, folder: Path, tmp_path: Path, space: tuple[str, ...], carriers: set[str]
) -> None:
    program = random_messages(folder, "openmpi", 3)
    passes(run(pair, "openmpi", program, *space, "--report", str(tmp_path), per_host=2), 4, 2)
    assert {row.carrier for row in summarise(tmp_path).messages} - {"native", "itself"} == carriers


@pytest.mark.parametrize(("engine", "way"), (("thread", "wait"), ("thread", "come"), ("poll", "poll")))
def test_the_report_tells_what_was_hidden(pair: Hosts, folder: Path, tmp_path: Path, engine: str, way: str) -> None:
    """4 MiB each way: all is hidden of what comes while the program computes, and nothing where nobody moves it."""
    program = [str(compiled(named("openmpi"), "overlapped_messages", folder)), way]
    options = ("--engine", engine, "--placement", "shared", "--report", str(tmp_path))
    outcome = run(pair, "openmpi", program, *options)
    passes(outcome, 2, 1)
    assert outcome[1].count("right") == 2, outcome[1]
    rows = {row.operation: row for row in summarise(tmp_path).messages}
    for row in (rows["Irecv"], rows["Isend"]):
        assert (row.messages, row.timed, row.waited) == (10, 10, 10), row
        assert 0 <= row.overlapped_ns <= row.gap_ns <= row.life_ns, row
        assert row.hidden is not None or (engine == "poll" and row.gap_ns > 0), row
    if way == "poll":
        assert rows["Irecv"].overlapped_ns == rows["Isend"].overlapped_ns == 0, rows
    if way == "come":
        assert rows["Irecv"].hidden is not None and rows["Irecv"].hidden > 0.5, rows


def test_a_job_decides_for_itself(pair: Hosts, folder: Path, tmp_path: Path) -> None:
    program = random_messages(folder, "openmpi", 4)
    auto = ("--wire-messages", "auto", "--report")
    passes(run(pair, "openmpi", program, *auto, str(tmp_path / "apart")), 2, 1)
    code, output = run(pair, "openmpi", program, *auto, str(tmp_path / "space"), "--space")
    assert code == 0 and "ranks go by transport wire" not in output, output[-3000:]
    told = {"OMPI_MCA_mpi_yield_when_idle": "1"}  # of more ranks than cores
    code, output = run(pair, "openmpi", program, *auto, str(tmp_path / "crowded"), env=told)
    assert code == 0, output[-3000:]
    for folder_of, by, why in (
        ("apart", "wire", "by wire: TCP is"),
        ("space", "native", "through the MPI library, since rank 0 is to be in a space"),
        ("crowded", "native", "through the MPI library, since rank 0 shares its cores with others"),
    ):
        ranks = summarise(tmp_path / folder_of).ranks
        assert len(ranks) == 2 and all(rank["messages_by"] == by for rank in ranks), ranks
        assert all(rank["messages_why"].startswith(why) for rank in ranks), ranks


@pytest.mark.parametrize("name", NAMES)
def test_without_an_option_ranks_that_share_no_node_have_them_by_wire(pair: Hosts, folder: Path, name: str) -> None:
    mpi = named(name)
    # MPICH alone hangs in random messages of two ranks on each of two test hosts.
    quiet = [str(compiled(mpi, "requests_exhausted", folder))]
    for per_host, program, line in (
        (1, random_messages(folder, name, 2), "the program's messages to 1 of 2 ranks go by transport wire"),
        (2, quiet, "the program's messages between nodes: through the MPI library, since ranks share nodes"),
    ):
        done = pair.run(
            [EXEC, "--verbose", "2", "--", *program],
            ranks_per_host=per_host,
            mpi_name=mpi.launcher,
            env=mpi.environment,
            timeout=float(SECONDS),
        )
        output = done.stdout + done.stderr
        assert done.returncode == 0 and output.count(line) == 2 * per_host, output[-3000:]


@pytest.mark.parametrize(
    ("before", "options", "whys"),
    (
        ("", "--sites 'left:host0;right:host1'", ("by wire: TCP is",) * 2),
        (
            "options='--wire-messages 0'",
            "",
            (
                "through the MPI library, as option WIRE_MESSAGES of rank 1",
                "through the MPI library, as option WIRE_MESSAGES says",
            ),
        ),
        ("options=--space", "", ("through the MPI library, since rank 1 is to be in a space",) * 2),
        ("ulimit -n 260", "", ("through the MPI library, since the limit of descriptors of rank 1",) * 2),
        ("ulimit -n 250", "", ("through the MPI library: rank 1 has none: its limit of descriptors",) * 2),
        ("ulimit -n 250; options='--wire-messages 1'", "", ("through the MPI library: rank 1 has none",) * 2),
        ("options='--wire-messages 1'", "", ("by wire: TCP is", "by wire to all ranks that it reaches")),
    ),
)
def test_one_rank_or_the_network_leaves_all_to_the_library(
    pair: Hosts, folder: Path, tmp_path: Path, before: str, options: str, whys: tuple[str, str]
) -> None:
    """With auto, where rank 1 is another than rank 0, or the nodes are at two sites: all ranks come to the same."""
    mpi = named("openmpi")
    program = f"{compiled(mpi, 'random_messages', folder)} --rounds 3 --seed 1"
    alone = f'[ "$(hostname)" != host1 ] || {{ {before or ":"}; }}'
    words = f"--report {tmp_path} --wire-messages auto {options} $options"
    done = pair.run(
        ["sh", "-c", f"{alone}; exec {EXEC} {words} -- {program}"],
        mpi_name=mpi.launcher,
        env=mpi.environment,
        timeout=float(SECONDS),
    )
    output = done.stdout + done.stderr
    assert done.returncode == 0 and "messages, seed 1" in output, output[-3000:]
    for rank, why in zip(summarise(tmp_path).ranks, whys, strict=True):
        assert rank["messages_why"].startswith(why), rank["messages_why"]
        assert rank["messages_by"] == ("wire" if why.startswith("by wire") else "native"), rank


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", NAMES)
def test_sends_that_have_left_are_not_cancelled(hosts: Hosts, folder: Path, name: str, engine: str) -> None:
    program = [str(compiled(named(name), "cancelled_sends", folder))]
    passes(run(hosts, name, program, "--engine", engine), 3, 2)


def test_one_rank_without_leaves_all_to_the_library(pair: Hosts, folder: Path) -> None:
    mpi = named("openmpi")
    program = f"{compiled(mpi, 'random_messages', folder)} --rounds 3 --seed 1"
    alone = '[ "$(hostname)" != host1 ] || without="--wire-messages 0"'
    done = pair.run(
        ["sh", "-c", f"{alone}; exec {EXEC} --verbose 2 --wire-messages $without -- {program}"],
        mpi_name=mpi.launcher,
        env=mpi.environment,
        timeout=float(SECONDS),
    )
    output = done.stdout + done.stderr
    assert done.returncode == 0 and "messages, seed 1" in output, output[-3000:]
    assert "ranks go by transport wire" not in output, output[-3000:]


@pytest.mark.parametrize("how", ("send", "receive", "any", "small", "compute"))
@pytest.mark.parametrize("name", NAMES)
def test_a_killed_rank_ends_the_job(hosts: Hosts, folder: Path, name: str, how: str) -> None:
    """In the midst of messages; nothing stays behind."""
    code, output = run(hosts, name, [str(compiled(named(name), "killed_in_messages", folder)), how])
    assert code not in (0, 124), output[-3000:]
    assert output.count("pid ") == 3, output[-3000:]
    end = time.monotonic() + SECONDS
    for host in range(3):
        while hosts.execute(host, ["pgrep", "-x", "killed_in_messa"]).returncode == 0:  # a name's first 15 letters
            assert time.monotonic() < end, f"a rank on host{host} is still there"
            time.sleep(0.05)


@pytest.mark.parametrize("engine", ENGINES)
def test_where_a_link_breaks_what_needs_it_fails(folder: Path, tmp_path: Path, engine: str) -> None:
    program = [str(compiled(named("openmpi"), "lost_messages", folder)), str(tmp_path), driver(folder, "CUDA")]
    with Hosts(count=3) as own, ThreadPoolExecutor(1) as pool:
        job = pool.submit(run, own, "openmpi", program, "--engine", engine, "--set", "PEER_TIMEOUT=4")
        wait_until_it_works(job, tmp_path, 2)
        cut(own, 1, 2)
        _, output = job.result()  # the launcher finds fault with ranks that end without MPI_Finalize
    assert len(list(tmp_path.glob("failed.*"))) == 3, output[-3000:]
