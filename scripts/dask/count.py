#!/usr/bin/env python3
"""Count the solutions of the n-queens problem on the workers of a Dask cluster.

    count.py N (--scheduler ADDRESS | --local W) --shards K --out FOLDER [-- SHARD OPTIONS]

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
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

DONE, FAILED, USAGE, STOPPED, NOT_NOW = 0, 1, 2, 3, 4

# How a shard ended on a worker: the program's exit code, the worker, and the journal or, for wrong
# usage and a refusal, the program's message. Other failures are raised, and Dask itself tries them
# again.
Answer = tuple[int, str, bytes]

# `nqueens shard` gets these from the driver, so they may not follow `--`.
OWN_OPTIONS = ("--index", "--shards", "--out", "--threads", "-t", "--json")

# What Dask raises from a future whose scheduler is lost, depending on its version.
CONNECTION_ERRORS = (OSError, asyncio.CancelledError, concurrent.futures.CancelledError)

LINES_APART_SECONDS = 10.0
REWRITES_APART_SECONDS = 0.5
POLL_SECONDS = 0.1
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
    folder: Path
    scheduler: str | None
    local: int | None
    program: str
    threads: int
    retries: int
    extra: tuple[str, ...]

    def name(self, index: int) -> str:
        """Name a shard, as the program names its journals."""
        width = max(4, len(str(self.shards)))
        return f"n{self.n}-{index:0{width}}-of-{self.shards:0{width}}"

    def arguments(self, index: int) -> list[str]:
        """Give what a worker passes to the program, but for the journal's place."""
        shard = ["shard", str(self.n), "--index", str(index), "--shards", str(self.shards)]
        return [*shard, "--threads", str(self.threads), "--json", *self.extra]

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
        "--local", metavar="W", type=number(1), help="start W worker processes here instead"
    )
    add("--shards", metavar="K", type=number(1), required=True, help="how many shards")
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
        folder=given.out,
        scheduler=given.scheduler,
        local=given.local,
        program=given.program,
        threads=given.threads,
        retries=given.retries,
        extra=tuple(extra),
    )


def parse_shards(text: str) -> list[int]:
    """Read shards in the form of job arrays: `3,7-9` is 3, 7, 8 and 9; nothing is none."""
    shards: list[int] = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        shards.extend(range(int(first), int(last or first) + 1))
    return shards


# ------------------------------------------------------------------------------- on the worker


def run_shard(index: int, request: Request) -> Answer:
    """Count one shard in a process of its own and return its journal; runs on a worker.

    A shard without units (there are more shards than units) has no journal: it is empty.
    """
    import tempfile
    from pathlib import Path

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
    missing: list[int]

    @classmethod
    def from_json(cls, text: str | bytes) -> Merged:
        """Read what `merge --json` prints."""
        report = json.loads(text)
        missing = parse_shards(report["missing"]["indices"] or "")
        return cls(report["n"], report["plan"], report["engine"], missing)


def merge(request: Request, path: Path) -> Merged:
    """Ask the program what a journal or a folder of them holds and lacks."""
    command = [request.program, "merge", str(path), "--shards", str(request.shards), "--json"]
    run = subprocess.run(command, capture_output=True, check=False)
    if run.returncode not in (DONE, STOPPED):
        raise EndedError(run.returncode, reason(run.returncode, run.stderr))
    return Merged.from_json(run.stdout)


class Folder:
    """The journals that have come in. All of them belong to one plan."""

    def __init__(self, request: Request) -> None:
        """Make the folder if there is none, and find out what it lacks."""
        self.request = request
        self.plan: str | None = None
        self.missing = list(range(request.shards))
        try:
            request.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise EndedError(USAGE, f"--out {request.folder}: {error.strerror}") from None
        if any(request.folder.glob("*.journal")):
            merged = merge(request, request.folder)
            if merged.n != request.n:
                raise EndedError(
                    USAGE,
                    f"--out {request.folder}: the journals there are of n = {merged.n}, "
                    f"not {request.n}: choose another folder",
                )
            self.plan, self.missing = merged.plan, merged.missing

    def keep(self, index: int, journal: bytes) -> None:
        """Check a journal and add it to the folder, whole or not at all."""
        if not journal:
            return
        name = f"{self.request.name(index)}.journal"
        # The name does not end in .journal, so what a killed driver leaves is never read.
        temporary = self.request.folder / f"{name}.{os.getpid()}.tmp"
        try:
            with temporary.open("wb") as file:
                file.write(journal)
                file.flush()
                os.fsync(file.fileno())
            self.check(index, temporary)
            temporary.replace(self.request.folder / name)
        finally:
            temporary.unlink(missing_ok=True)
        sync_folder(self.request.folder)

    def check(self, index: int, journal: Path) -> None:
        """Refuse a journal that is damaged, is of another count, or lacks units of its shard."""
        merged = merge(self.request, journal)
        self.plan = self.plan or merged.plan
        if (merged.n, merged.plan) != (self.request.n, self.plan):
            raise EndedError(
                FAILED,
                f"it was counted by another plan (n = {merged.n}, engine {merged.engine}) than "
                "those in the folder: use the same options and the same program everywhere",
            )
        if index in merged.missing:
            raise EndedError(FAILED, "its journal lacks units")


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


@contextlib.contextmanager
def interrupts_ignored() -> Iterator[None]:
    """Let worker processes that start here ignore Ctrl-C, which is meant for the driver."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def connect(request: Request) -> Iterator[Any]:
    """Give a client of the scheduler, or of workers started here."""
    try:
        from distributed import Client, LocalCluster
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
                with interrupts_ignored():
                    address = LocalCluster(
                        n_workers=request.local,
                        threads_per_worker=1,
                        dashboard_address=None,
                        silence_logs=logging.CRITICAL,
                    )
                stack.enter_context(address)
            client = Client(address, timeout=10)
        except ValueError as error:
            raise EndedError(USAGE, f"--scheduler {request.scheduler}: {error}") from None
        except OSError as error:
            if request.local is not None:
                raise EndedError(FAILED, f"no workers can be started here: {error}") from None
            raise EndedError(
                STOPPED,
                f"no scheduler answers at {request.scheduler}: start it, and run the command again",
            ) from None
        stack.callback(close, client)
        yield client


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

    def __init__(self, client: Any, request: Request, missing: list[int]) -> None:
        """Submit every missing shard."""
        from distributed import as_completed

        self.client, self.request = client, request
        futures = client.map(
            run_shard,
            missing,
            request=request,
            key=[request.key(index) for index in missing],
            retries=request.retries,
        )
        self.running = {future: Task(index) for future, index in zip(futures, missing)}
        self.completed = as_completed(futures)
        self.paused: list[tuple[float, Task]] = []
        self.refusals: dict[int, Refusals] = {}

    def left(self) -> bool:
        """Find out whether any task is left."""
        return bool(self.paused) or not self.completed.is_empty()

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
        before = request.shards - len(folder.missing)
        with connected():
            workers = len(client.nthreads())
            say(
                f"{before} of {request.shards} shards are there, {len(folder.missing)} to go, "
                + (in_words(workers) if workers else "waiting for the first worker")
            )
            tasks = Tasks(client, request, folder.missing)
        progress = Progress(request.shards, before)
        try:
            collect(client, tasks, folder, progress)
        finally:
            progress.clear()


def collect(client: Any, tasks: Tasks, folder: Folder, progress: Progress) -> None:
    """Take the journals in the order in which they come."""
    looked_after = time.monotonic()
    while tasks.left():
        for future in tasks.completed.next_batch(block=False):
            take(future, tasks, folder, progress)
        with connected():
            if client.status != "running":
                raise ConnectionError
            if tasks.refusals and time.monotonic() - looked_after >= CHECKS_APART_SECONDS:
                tasks.look_after(set(client.nthreads()))
                looked_after = time.monotonic()
            if progress.is_due():
                progress.show(len(client.nthreads()))
        time.sleep(POLL_SECONDS)


def take(future: Any, tasks: Tasks, folder: Folder, progress: Progress) -> None:
    """Handle a task that has ended."""
    task = tasks.running.get(future)
    if task is None:
        return  # it was cancelled and submitted again
    name = folder.request.name(task.index)
    answer = answer_of(future, name)
    if answer is None:
        tasks.completed.add(future)
        return
    del tasks.running[future]
    # Lets Dask free the journal, so that no worker runs out of memory.
    future.release()
    code, worker, content = answer
    if code == DONE:
        try:
            folder.keep(task.index, content)
        except EndedError as error:
            raise EndedError(FAILED, f"{name}: {error}") from None
        progress.done += 1
        return
    words = f"worker {worker}: {content.decode()}"
    if code == USAGE:
        raise EndedError(USAGE, f"{name}: {words}")
    with connected():
        tasks.refused(task, worker, set(tasks.client.nthreads()), words)


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
        answer: Answer = future.result()
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
    command = [request.program, "merge", str(request.folder), "--shards", str(request.shards)]
    return subprocess.run(command, check=False).returncode


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
