#!/usr/bin/env python3
"""Count the solutions of the n-queens problem on the workers of a Dask cluster.

    count.py N (--scheduler ADDRESS | --local W) --shards K --out FOLDER [--second]
             [-- SHARD OPTIONS]

Every shard is one Dask task: a worker runs `nqueens shard` and sends the finished journal back
over Dask's own connection, so no file system is shared. This program, the driver, checks each
journal and writes it into FOLDER. FOLDER is the only state: the same command run again counts only
the shards that are missing there, whatever died in between. At the end
`nqueens merge FOLDER` prints the total.

Exit codes are those of nqueens:

0  done
1  failed
2  wrong usage, also if a worker's nqueens reports it: never tried again
3  stopped before the end: the same command resumes
4  no worker has the memory or threads for a shard now: the same command resumes later, or with
   other workers
"""

from __future__ import annotations

import argparse
import asyncio
import concurrent.futures
import contextlib
import itertools
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

DONE, FAILED, USAGE, STOPPED, NOT_NOW = 0, 1, 2, 3, 4

# How a shard ended on a worker: the program's exit code, the worker, and the journal or, for wrong
# usage and a refusal, the program's message. Other failures are raised, and Dask itself tries them
# again.
Answer = tuple[int, str, bytes]

# `nqueens shard` gets these from the driver, so they may not follow `--`.
OWN_OPTIONS = ("--index", "--shards", "--out", "--threads", "-t", "--json", "--second")

# As many as the program allows.
MOST_SHARDS = 1_000_000

# What Dask raises from a future whose scheduler is lost, depending on its version.
CONNECTION_ERRORS = (OSError, asyncio.CancelledError, concurrent.futures.CancelledError)

LINES_APART_SECONDS = 10.0
REWRITES_APART_SECONDS = 0.5
POLL_SECONDS = 0.1
# A scheduler that gives no answer for so long counts as lost. (Workers that give none are lost to
# the scheduler after five minutes, by default.)
ANSWER_SECONDS = 600
# So many shards are with the scheduler at a time, or so many for each thread of the workers if that
# is more. Each costs the scheduler memory and time; a million at once would choke it.
LEAST_SUBMITTED = 1000
SUBMITTED_PER_THREAD = 4
# Before a shard that every worker has refused is tried again; twice as long each time.
PAUSE_SECONDS = 5.0
# Between two checks that the workers chosen for a shard still exist.
CHECKS_APART_SECONDS = 1.0


class EndedError(Exception):
    """The run ends here, with a message of one line and an exit code."""

    def __init__(self, code: int, message: str) -> None:
        """Keep both."""
        super().__init__(message)
        self.code = code


# ---------------------------------------------------------------------------- what is asked for


@dataclass(frozen=True)
class Request:
    """The command line, checked."""

    n: int
    shards: int
    second: bool
    folder: Path
    scheduler: str | None
    local: int | None
    program: str
    threads: int
    retries: int
    extra: tuple[str, ...]

    def name(self, index: int) -> str:
        """Name a shard, as the program names its journals."""
        board = f"n{self.n}-second" if self.second else f"n{self.n}"
        return f"{board}-{index:04}-of-{self.shards:04}"

    def which(self) -> list[str]:
        """Give the option of the program that tells a second count from the first."""
        return ["--second"] if self.second else []

    def arguments(self, index: int) -> list[str]:
        """Give what a worker passes to the program, but for the journal's place."""
        shard = ["shard", str(self.n), "--index", str(index), "--shards", str(self.shards)]
        return [*shard, *self.which(), "--threads", str(self.threads), "--json", *self.extra]

    def merge(self, path: Path) -> list[str]:
        """Give the command that merges a journal or a folder of them."""
        return [self.program, "merge", str(path), *self.which(), "--shards", str(self.shards)]

    def key(self, index: int) -> str:
        """Name the Dask task: the same for the same work, in every run of every driver.

        A scheduler gives two clients with one key the same result, so the key covers everything
        that may change the result.
        """
        command = "\0".join([self.program, *self.arguments(index)])
        return f"nqueens-{self.name(index)}-{zlib.crc32(command.encode()):08x}"


class Arguments(argparse.ArgumentParser):
    """A parser whose complaints are one line."""

    def error(self, message: str) -> NoReturn:
        """End with the exit code of wrong usage."""
        raise EndedError(USAGE, f"{message}; see --help")


def number(least: int, most: int | None = None) -> Any:
    """Make a converter for whole numbers of a range, for argparse."""
    wanted = f"{least} or more" if most is None else f"{least} to {most}"

    def convert(text: str) -> int:
        value = int(text) if text.isascii() and text.isdigit() else -1
        if value < least or (most is not None and value > most):
            raise argparse.ArgumentTypeError(f"'{text}' is not a whole number, {wanted}")
        return value

    return convert


def parse_arguments(argv: Sequence[str]) -> Request:
    """Read the command line; everything after `--` goes to `nqueens shard`."""
    own, extra = list(argv), []
    if "--" in own:
        at = own.index("--")
        own, extra = own[:at], own[at + 1 :]
    parser = Arguments(
        prog="count.py",
        description="Count n-queens solutions on the workers of a Dask cluster.",
        epilog="Options of 'nqueens shard', such as --engine or --memory, may follow '--'. "
        "The same command run again counts only what FOLDER lacks.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("n", metavar="N", type=number(0, 32), help="size of the board")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--scheduler", metavar="ADDRESS", help="for example tcp://10.0.0.1:8786")
    where.add_argument(
        "--local", metavar="W", type=number(1), help="count W shards at a time here instead"
    )
    add("--shards", metavar="K", type=number(1, MOST_SHARDS), required=True, help="how many shards")
    add(
        "--second",
        action="store_true",
        help="a second count; its journals may lie in the folder of the first",
    )
    add("--out", metavar="FOLDER", type=Path, required=True, help="where the journals are kept")
    add(
        "--program", default="nqueens", help="program to run, here and on the workers [%(default)s]"
    )
    add("--threads", metavar="T", type=number(1), default=1, help="threads of a task [%(default)s]")
    add(
        "--retries",
        metavar="R",
        type=number(0),
        default=3,
        help="how often a shard that failed is tried again [%(default)s]",
    )
    given = parser.parse_args(own)
    for option in extra:
        if option.split("=", 1)[0] in OWN_OPTIONS:
            parser.error(f"{option} is set by this program and may not follow '--'")
    return Request(
        n=given.n,
        shards=given.shards,
        second=given.second,
        folder=given.out,
        scheduler=given.scheduler,
        local=given.local,
        program=given.program,
        threads=given.threads,
        retries=given.retries,
        extra=tuple(extra),
    )


def parse_shards(text: str) -> list[range]:
    """Read shards in the form of job arrays: `3,7-9` is 3, 7, 8 and 9; nothing is none."""
    shards = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        shards.append(range(int(first), int(last or first) + 1))
    return shards


# ------------------------------------------------------------------------------- on the worker


def run_shard(index: int, request: Request) -> Answer:
    """Count one shard in a process of its own and return its journal; runs on a worker.

    A shard without units (there are more shards than units) has no journal: it is empty.
    """
    from distributed import get_worker

    worker = get_worker()
    # Dask clears this folder when the worker, or a later one, finds its owner gone.
    with tempfile.TemporaryDirectory(prefix="nqueens-", dir=worker.local_directory) as folder:
        journal = Path(folder, f"{request.name(index)}.journal")
        command = [request.program, *request.arguments(index), "--out", str(journal)]
        try:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        except OSError as error:
            raise RuntimeError(
                f"worker {worker.address} cannot run '{request.program}' ({error.strerror}): "
                "install it there, or name its path with --program"
            ) from None
        with process:
            errors = wait_for(process, worker)
        code = process.returncode
        if code in (USAGE, NOT_NOW):
            return code, worker.address, reason(code, errors).encode()
        if code != DONE:
            raise RuntimeError(f"worker {worker.address}: {reason(code, errors)}")
        return code, worker.address, journal.read_bytes() if journal.exists() else b""


def wait_for(process: subprocess.Popen[bytes], worker: Any) -> bytes:
    """Wait for the process and return its messages; kill it once its result is no longer wanted.

    Dask cannot interrupt a running task. So the task itself checks, twice a second, whether it was
    cancelled (the driver stopped or died) or its worker is closing (on request, or because the
    scheduler died).
    """
    key = worker.get_current_task()
    while True:
        try:
            return process.communicate(timeout=0.5)[1]
        except subprocess.TimeoutExpired:
            task = worker.state.tasks.get(key)
            wanted = task is not None and task.state != "cancelled"
            if not wanted or worker.status.name not in ("init", "running", "paused"):
                process.kill()


def reason(code: int, errors: bytes) -> str:
    """Give the reason why a process failed: its last message, or else its exit code."""
    if code < 0:
        return f"the process was killed by signal {-code}"
    lines = errors.decode(errors="replace").strip().splitlines()
    return (
        lines[-1].removeprefix("nqueens: ") if lines else f"the process ended with exit code {code}"
    )


# ------------------------------------------------------------------------------ the local folder


@dataclass(frozen=True)
class Merged:
    """What `nqueens merge` reports about journals."""

    n: int
    plan: str
    engine: str
    missing: list[range]

    @classmethod
    def from_json(cls, text: str | bytes) -> Merged:
        """Read what `merge --json` prints."""
        report = json.loads(text)
        missing = parse_shards(report["missing"]["indices"] or "")
        return cls(report["n"], report["plan"], report["engine"], missing)


def merge(request: Request, path: Path) -> Merged:
    """Ask the program what a journal or a folder of them holds and lacks."""
    run = subprocess.run([*request.merge(path), "--json"], capture_output=True, check=False)
    if run.returncode not in (DONE, STOPPED):
        raise EndedError(run.returncode, reason(run.returncode, run.stderr))
    return Merged.from_json(run.stdout)


class Folder:
    """The journals that have come in. All of them belong to one plan."""

    def __init__(self, request: Request) -> None:
        """Make the folder if there is none, and find out what it lacks."""
        self.request = request
        self.plan: str | None = None
        self.missing = [range(request.shards)]
        try:
            request.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise EndedError(USAGE, f"--out {request.folder}: {error.strerror}") from None
        second = request.folder.glob(f"n{request.n}-second-*.journal")
        if any(second) if request.second else self.has_first_count():
            merged = merge(request, request.folder)
            if merged.n != request.n:
                raise EndedError(
                    USAGE,
                    f"--out {request.folder}: the journals there are of n = {merged.n}, "
                    f"not {request.n}: choose another folder",
                )
            self.plan, self.missing = merged.plan, merged.missing

    def has_first_count(self) -> bool:
        """Find out whether there are journals other than those of a second count."""
        second = f"n{self.request.n}-second-"
        return any(
            not path.name.startswith(second) for path in self.request.folder.glob("*.journal")
        )

    def lacks(self) -> int:
        """Count the shards that were missing in the beginning."""
        return sum(map(len, self.missing))

    def keep(self, journals: dict[int, bytes]) -> None:
        """Check journals and add them to the folder, each whole or not at all.

        They are checked together, because each check begins with a list of all units of the plan.
        """
        journals = {index: journal for index, journal in journals.items() if journal}
        if not journals:
            return
        fault = None
        # What a killed driver leaves there is never read.
        with tempfile.TemporaryDirectory(prefix="incoming-", dir=self.request.folder) as place:
            paths = {
                index: Path(place, f"{self.request.name(index)}.journal") for index in journals
            }
            for index, path in paths.items():
                with path.open("wb") as file:
                    file.write(journals[index])
                    file.flush()
                    os.fsync(file.fileno())
            try:
                self.check(paths, Path(place))
            except EndedError:
                # One of them is at fault; the others are kept.
                for index, path in list(paths.items()):
                    try:
                        self.check([index], path)
                    except EndedError as error:
                        fault = EndedError(FAILED, f"{self.request.name(index)}: {error}")
                        del paths[index]
            for path in paths.values():
                path.replace(self.request.folder / path.name)
        sync_folder(self.request.folder)
        if fault:
            raise fault

    def check(self, indices: Iterable[int], path: Path) -> None:
        """Refuse journals that are damaged, are of another count, or lack units of their shards."""
        merged = merge(self.request, path)
        plan = self.plan or merged.plan
        if (merged.n, merged.plan) != (self.request.n, plan):
            raise EndedError(
                FAILED,
                f"it was counted by another plan (n = {merged.n}, engine {merged.engine}) than "
                "those in the folder: use the same options and the same program everywhere",
            )
        if any(index in shards for index in indices for shards in merged.missing):
            raise EndedError(FAILED, "its journal lacks units")
        self.plan = plan


def sync_folder(folder: Path) -> None:
    """Force a folder's names to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# ------------------------------------------------------------------------------------ the driver


def say(message: str) -> None:
    """Print one line to standard error; standard output is kept for the total."""
    print(f"count.py: {message}", file=sys.stderr, flush=True)


class Progress:
    """The progress of the run: one line, rewritten on a terminal, or else a line now and then."""

    def __init__(self, shards: int, before: int) -> None:
        """Start the clock."""
        self.shards, self.before, self.done = shards, before, before
        self.terminal = sys.stderr.isatty()
        self.began = self.said = time.monotonic()

    def is_due(self) -> bool:
        """Find out whether it is time to show it again."""
        apart = REWRITES_APART_SECONDS if self.terminal else LINES_APART_SECONDS
        return time.monotonic() - self.said >= apart

    def show(self, workers: int) -> None:
        """Show it."""
        self.said = time.monotonic()
        if self.terminal:
            print(f"\r{self.line(workers)}\x1b[K", end="", file=sys.stderr, flush=True)
        else:
            say(self.line(workers))

    def line(self, workers: int) -> str:
        """Format it."""
        elapsed = time.monotonic() - self.began
        text = f"{self.done} of {self.shards} shards, {in_words(workers)}, {clock(elapsed)}"
        if self.done > self.before:
            left = elapsed * (self.shards - self.done) / (self.done - self.before)
            text += f", about {clock(left)} to go"
        return text

    def clear(self) -> None:
        """Leave an empty line for the next message."""
        if self.terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def in_words(workers: int) -> str:
    """Say how many workers there are."""
    return "1 worker" if workers == 1 else f"{workers} workers"


def clock(seconds: float) -> str:
    """Write a time as hours:minutes:seconds."""
    whole = round(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


def workers_without_ports(workers: int) -> Any:
    """Start workers and a scheduler as threads of this process.

    Through the port of a scheduler, every user of this machine could run programs as this user.
    """
    from distributed import LocalCluster
    from distributed.node import ServerNode

    # No option keeps Dask from starting HTTP servers, which listen on all networks.
    setattr(ServerNode, "start_http_server", lambda *_, **__: None)  # noqa: B010
    return LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=False,
        protocol="inproc://",
        dashboard_address=None,
        silence_logs=logging.CRITICAL,
    )


@contextlib.contextmanager
def connect(request: Request) -> Iterator[Any]:
    """Give a client of the scheduler, or of workers started here."""
    try:
        from distributed import Client
    except ImportError:
        raise EndedError(
            USAGE, "Python's package 'distributed' is missing: pip install distributed"
        ) from None
    # Lost connections are reported here, in one line, instead of by Dask.
    logging.disable(logging.CRITICAL)
    with contextlib.ExitStack() as stack:
        address: Any = request.scheduler
        try:
            if request.local is not None:
                address = workers_without_ports(request.local)
                stack.enter_context(address)
            client = Client(address, timeout=10)
        # Settings of TLS may not fit the address (TypeError, RuntimeError) or name files that are
        # not there.
        except (ValueError, TypeError, RuntimeError, FileNotFoundError, PermissionError) as error:
            words = (str(error).strip() or repr(error)).splitlines()[0]
            raise EndedError(USAGE, f"--scheduler {request.scheduler}: {words}") from None
        except OSError as error:
            if request.local is not None:
                raise EndedError(FAILED, f"no workers can be started here: {error}") from None
            trusted = (
                " with a certificate that it trusts" if str(address).startswith("tls:") else ""
            )
            raise EndedError(
                STOPPED,
                f"no scheduler answers at {request.scheduler}: start it, "
                f"and run the command again{trusted}",
            ) from None
        stack.callback(close, client)
        yield client


def threads_of(client: Any) -> dict[str, int]:
    """Give the addresses of the workers, and how many tasks each runs at a time."""
    try:
        threads: dict[str, int] = client.nthreads(callback_timeout=ANSWER_SECONDS)
    except asyncio.TimeoutError:
        raise ConnectionError from None
    return threads


def close(client: Any) -> None:
    """Leave the scheduler, which then cancels what only this client wanted."""
    with contextlib.suppress(*CONNECTION_ERRORS):
        client.close(timeout=2)


class Refusals:
    """Where a shard was refused (exit code 4), and where and when it is tried next."""

    def __init__(self, retries: int) -> None:
        """Start without refusals."""
        self.rounds_left = retries
        self.pause = PAUSE_SECONDS
        self.workers: set[str] = set()

    def add(self, worker: str, present: set[str]) -> float | None:
        """Add one; give the seconds to wait until the next try, or None if it was the last.

        Every worker is tried once. When all of them have refused, waiting may help: all of them are
        tried again, as many times as a failed shard is.
        """
        self.workers.add(worker)
        if present - self.workers:
            return 0.0
        if self.rounds_left == 0:
            return None
        self.rounds_left -= 1
        self.workers.clear()
        pause, self.pause = self.pause, 2 * self.pause
        return pause

    def places(self, present: set[str]) -> set[str]:
        """Give the workers to choose from; no names mean any, even those that join later."""
        return present - self.workers if self.workers else set()


@dataclass
class Task:
    """A shard that a worker is to count, at the first attempt or a later one."""

    index: int
    attempt: int = 0
    # The only workers that may take it; none means any.
    places: frozenset[str] = frozenset()


class Tasks:
    """The tasks submitted to Dask, and those to submit again later."""

    def __init__(self, client: Any, request: Request, missing: Iterable[int]) -> None:
        """Submit the first of the missing shards."""
        from distributed import as_completed

        self.client, self.request = client, request
        self.missing = iter(missing)
        self.running: dict[Any, Task] = {}
        self.completed = as_completed()
        self.paused: list[tuple[float, Task]] = []
        self.refusals: dict[int, Refusals] = {}
        self.fill()

    def left(self) -> bool:
        """Find out whether any task is left."""
        return bool(self.paused or self.running)

    def fill(self) -> None:
        """Submit more of the missing shards, when half of what was submitted has ended."""
        threads = sum(threads_of(self.client).values())
        most = max(LEAST_SUBMITTED, SUBMITTED_PER_THREAD * threads)
        if len(self.running) > most // 2:
            return
        indices = list(itertools.islice(self.missing, most - len(self.running)))
        if not indices:
            return
        futures = self.client.map(
            run_shard,
            indices,
            request=self.request,
            key=[self.request.key(index) for index in indices],
            retries=self.request.retries,
        )
        self.running.update(zip(futures, map(Task, indices)))
        self.completed.update(futures)

    def submit(self, task: Task, present: set[str]) -> None:
        """Submit a shard again, to workers that have not refused it.

        Only these are allowed: otherwise an idle worker would take the task, and that is the one
        that has just refused it.
        """
        refusals = self.refusals[task.index]
        task = Task(task.index, task.attempt + 1, frozenset(refusals.places(present)))
        future = self.client.submit(
            run_shard,
            task.index,
            request=self.request,
            key=f"{self.request.key(task.index)}-{task.attempt}",
            retries=self.request.retries,
            workers=sorted(task.places) or None,
        )
        self.running[future] = task
        self.completed.add(future)

    def refused(self, task: Task, worker: str, present: set[str], words: str) -> None:
        """Have a shard counted elsewhere or later, or end the run if that was the last attempt."""
        refusals = self.refusals.setdefault(task.index, Refusals(self.request.retries))
        pause = refusals.add(worker, present)
        name = self.request.name(task.index)
        if pause is None:
            raise EndedError(NOT_NOW, f"{name}: no worker can count it now: {words}")
        if pause == 0.0:
            self.submit(task, present)
            return
        say(f"{name}: no worker can count it now, again in {pause:.0f} s: {words}")
        self.paused.append((time.monotonic() + pause, task))

    def look_after(self, present: set[str]) -> None:
        """Submit tasks again whose pause is over or whose workers are gone."""
        now = time.monotonic()
        due = [task for end, task in self.paused if end <= now]
        self.paused = [(end, task) for end, task in self.paused if end > now]
        for future, task in list(self.running.items()):
            if task.places and not task.places & present and future.status == "pending":
                del self.running[future]
                future.cancel()
                due.append(task)
        for task in due:
            self.submit(task, present)


def count(request: Request, folder: Folder) -> None:
    """Have every missing shard counted, and keep its journal."""
    with connect(request) as client:
        before = request.shards - folder.lacks()
        with connected():
            workers = len(threads_of(client))
            say(
                f"{before} of {request.shards} shards are there, {folder.lacks()} to go, "
                + (in_words(workers) if workers else "waiting for the first worker")
            )
            tasks = Tasks(client, request, itertools.chain.from_iterable(folder.missing))
        progress = Progress(request.shards, before)
        try:
            collect(client, tasks, folder, progress)
        finally:
            progress.clear()


def collect(client: Any, tasks: Tasks, folder: Folder, progress: Progress) -> None:
    """Take the journals in the order in which they come."""
    looked_after = time.monotonic()
    while tasks.left():
        journals: dict[int, bytes] = {}
        try:
            for future in tasks.completed.next_batch(block=False):
                take(future, tasks, journals)
        finally:
            folder.keep(journals)
            progress.done += len(journals)
        with connected():
            if client.status != "running":
                raise ConnectionError
            if journals:
                tasks.fill()
            if tasks.refusals and time.monotonic() - looked_after >= CHECKS_APART_SECONDS:
                tasks.look_after(set(threads_of(client)))
                looked_after = time.monotonic()
            if progress.is_due():
                progress.show(len(threads_of(client)))
        time.sleep(POLL_SECONDS)


def take(future: Any, tasks: Tasks, journals: dict[int, bytes]) -> None:
    """Handle a task that has ended, and add its journal to the others."""
    task = tasks.running.get(future)
    if task is None:
        return  # it was cancelled and submitted again
    name = tasks.request.name(task.index)
    answer = answer_of(future, name)
    if answer is None:
        tasks.completed.add(future)
        return
    del tasks.running[future]
    # Lets Dask free the journal, so that no worker runs out of memory.
    future.release()
    code, worker, content = answer
    if code == DONE:
        journals[task.index] = content
        return
    words = f"worker {worker}: {content.decode()}"
    if code == USAGE:
        raise EndedError(USAGE, f"{name}: {words}")
    with connected():
        tasks.refused(task, worker, set(threads_of(tasks.client)), words)


def answer_of(future: Any, name: str) -> Answer | None:
    """Give a task's result, or end the run if it has used up its attempts.

    There is no result yet if the worker that held it died before it was fetched: then Dask counts
    the shard again, on another worker.
    """
    with connected():
        if future.status == "error":
            error = future.exception()
            words = str(error).strip() or repr(error)
            raise EndedError(FAILED, f"{name} failed: {words.splitlines()[0]}")
        # When the scheduler is lost, Dask cancels all tasks.
        if future.status == "cancelled":
            raise ConnectionError
        if future.status != "finished":
            return None
        try:
            answer: Answer = future.result(timeout=ANSWER_SECONDS)
        except asyncio.TimeoutError:
            raise ConnectionError from None
    return answer


@contextlib.contextmanager
def connected() -> Iterator[None]:
    """Report in one line if the scheduler is lost meanwhile."""
    try:
        yield
    except CONNECTION_ERRORS:
        raise EndedError(
            STOPPED, "the connection to the scheduler is lost: the same command resumes from here"
        ) from None


def run(request: Request) -> int:
    """Count what is missing, then print the total."""
    if shutil.which(request.program) is None:
        raise EndedError(
            USAGE,
            f"there is no program '{request.program}' here: install it, or name its path with "
            "--program",
        )
    folder = Folder(request)
    if folder.missing:
        count(request, folder)
    return subprocess.run(request.merge(request.folder), check=False).returncode


def interrupt(*_: object) -> NoReturn:
    """Treat SIGTERM as Ctrl-C; a second one ends the process at once."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    raise KeyboardInterrupt


def main(argv: Sequence[str]) -> int:
    """Run, and turn every end into an exit code and one line."""
    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGTERM, interrupt)
    try:
        return run(parse_arguments(argv))
    except EndedError as error:
        say(str(error))
        return error.code
    except OSError as error:
        say(f"{error.filename or 'the operating system'}: {error.strerror or error}")
        return FAILED
    except KeyboardInterrupt:
        say("stopped: the same command resumes from here")
        return STOPPED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
