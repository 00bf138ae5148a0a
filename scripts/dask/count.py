#!/usr/bin/env python3
"""Count the solutions of the n-queens problem on the workers of a Dask cluster.

Options of `nqueens shard`, such as --engine, may follow `--`.
Every shard is one Dask task: a worker runs `nqueens shard` and sends the finished journal back
over Dask's own connection, so no file system is shared. This program, the driver, checks each
journal and writes it into FOLDER under a name that no file has. FOLDER is the only state: the same
command run again counts only the shards that are missing there, whatever died in between. At the
end `nqueens merge FOLDER` prints the total.

Exit codes are those of nqueens:

0  done
1  a total that differs from the published one, a damaged journal, or a shard that failed too often
2  wrong usage, also if a worker's nqueens reports it: never tried again
3  stopped, or not complete: the same command resumes
4  temporarily impossible (no worker can run a shard, or a journal cannot be read): try again later
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
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

DONE, FAILED, USAGE, STOPPED, NOT_NOW = range(5)
# Exit codes and signals after which another worker may do: no memory or threads now, a program that
# does not start there, an instruction that the CPU lacks, a segmentation fault.
NOT_HERE = (NOT_NOW, 126, 127, 132, 139, -signal.SIGILL, -signal.SIGSEGV)

# The driver sets these itself, so they may not follow `--`.
OWN_OPTIONS = ("--index", "--shards", "--out", "--threads", "-t", "--second")
# What Dask raises when its scheduler is lost, depending on its version and Python's.
LOST = (OSError, asyncio.CancelledError, asyncio.TimeoutError, concurrent.futures.CancelledError)
ANSWER_SECONDS = 600  # without an answer the scheduler counts as lost
RESUME = "the connection to the scheduler is lost: the same command resumes from here"
POLL_SECONDS, LINE_SECONDS = 0.2, 10.0
signals: list[int] = []  # that came: the driver keeps the journals that are here, then stops


class EndedError(Exception):
    """The run ends here, with an exit code and a message of one line."""


def number(text: str, least: int = 1, most: int = 100_000) -> int:
    """Read a whole number of a range, for argparse."""
    value = int(text) if text.isascii() and text.isdigit() else -1
    if not least <= value <= most:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from {least} to {most}")
    return value


def parse_arguments(argv: Sequence[str]) -> argparse.Namespace:
    """Read the command line; everything after `--` goes to `nqueens shard`."""
    at = argv.index("--") if "--" in argv else len(argv)
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    add = parser.add_argument
    add("n", metavar="N", type=lambda text: number(text, 0, 32), help="size of the board")
    add("--scheduler", metavar="ADDRESS", required=True, help="for example tcp://10.0.0.1:8786")
    add("--shards", metavar="K", type=number, required=True, help="how many shards")
    add("--second", action="store_true", help="a second count; FOLDER may hold the first as well")
    add("--out", metavar="FOLDER", type=Path, required=True, help="where the journals are")
    add("--program", default="nqueens", help="program here and on the workers [%(default)s]")
    add("--threads", metavar="T", type=number, default=1, help="threads of a task [%(default)s]")
    attempts = "attempts after one that failed [%(default)s]"
    add("--retries", metavar="R", type=lambda text: number(text, 0), default=3, help=attempts)
    request = parser.parse_args(argv[:at])
    request.extra = list(argv[at + 1 :])
    for option in request.extra:
        if option.split("=", 1)[0] in OWN_OPTIONS:
            parser.error(f"{option} is set by this program and may not follow '--'")
    request.out = request.out.absolute()
    request.which = [*(["--second"] if request.second else []), "--shards", str(request.shards)]
    return request


def name(request: argparse.Namespace, index: int) -> str:
    """Name a shard, as the program names its journals."""
    return f"n{request.n}{'-second' * request.second}-{index:04}-of-{request.shards:04}"


def run_shard(index: int, request: argparse.Namespace) -> tuple[int, str, str, bytes]:
    """Count one shard on a worker; give the exit code, the worker, its message, and the journal.

    A shard without units has no journal. Other failures are raised: Dask itself tries again.
    """
    from distributed import get_worker

    worker = get_worker()
    where = f"worker {worker.address} on {os.uname().nodename}"
    # Dask clears this folder when the worker, or a later one, finds its owner gone.
    with tempfile.TemporaryDirectory(prefix="nqueens-", dir=worker.local_directory) as place:
        journal = Path(place, f"{name(request, index)}.journal")
        shard = [request.program, "shard", str(request.n), "--index", str(index), *request.which]
        shard += ["--threads", str(request.threads), *request.extra, "--out", str(journal)]
        try:
            code, words = execute(shard, worker)
        except OSError as error:
            code, words = NOT_NOW, str(error)
        if code not in (DONE, USAGE, *NOT_HERE):
            raise RuntimeError(f"{where}: {words}")
        sent = journal.read_bytes() if code == DONE and journal.exists() else b""
        return code, worker.address, f"{where}: {words}", sent


def execute(command: list[str], worker: Any) -> tuple[int, str]:
    """Run a command; give its exit code and what it said. Kill it once nobody wants the result.

    Dask cannot interrupt a running task. So the task itself checks, twice a second, whether it was
    cancelled (the driver stopped or died) or its worker is closing (as when the scheduler died).
    Ctrl-C in a terminal is for the driver or the worker there, not for the program.
    """
    key, null, pipe = worker.get_current_task(), subprocess.DEVNULL, subprocess.PIPE
    with subprocess.Popen(command, stdout=null, stderr=pipe, start_new_session=True) as process:
        while True:
            try:
                errors = process.communicate(timeout=0.5)[1]
                return process.returncode, reason(process.returncode, errors)
            except subprocess.TimeoutExpired:
                task = worker.state.tasks.get(key)
                wanted = task is not None and task.state != "cancelled"
                if not wanted or worker.status.name not in ("init", "running", "paused"):
                    process.kill()


def reason(code: int, errors: bytes) -> str:
    """Give the reason why a process failed: what it said, or else how it ended."""
    lines = [line.removeprefix("nqueens: ") for line in errors.decode(errors="replace").split("\n")]
    said = "; ".join([line for line in lines if line and not line.startswith("warning: ")][-6:])
    ended = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
    return said if said and code > 0 else f"the process {ended}"


def merge(request: argparse.Namespace, path: Path) -> tuple[dict[str, Any], list[int]]:
    """Ask the program what a journal or a folder of them holds, and which shards it lacks."""
    command = [request.program, "merge", str(path), *request.which, "--json"]
    run = subprocess.run(command, capture_output=True, check=False, start_new_session=True)
    if run.returncode not in (DONE, STOPPED):
        raise EndedError(max(run.returncode, FAILED), reason(run.returncode, run.stderr))
    report = json.loads(run.stdout)
    if report["n"] is None:  # nothing is recorded
        return {}, [*range(request.shards)]
    # In the form of job arrays: 3,7-9 is 3, 7, 8 and 9.
    ends = [part.partition("-") for part in (report["missing"]["indices"] or "").split(",") if part]
    return report, [i for first, _, last in ends for i in range(int(first), int(last or first) + 1)]


def say(message: str) -> None:
    """Print a line to standard error."""
    print(f"count.py: {message}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def connect(request: argparse.Namespace) -> Iterator[Any]:
    """Give a client of the scheduler; its tasks end with it."""
    from distributed import Client

    # Lost connections are reported here, in one line, instead of by Dask.
    logging.disable(logging.CRITICAL)
    try:
        client = Client(request.scheduler)
    except Exception as error:
        # TLS may not fit the address, or its files are not there.
        is_usage = isinstance(error, (ValueError, TypeError, RuntimeError, FileNotFoundError, PermissionError))
        words = f"no scheduler at {request.scheduler}: {(str(error) or repr(error)).splitlines()[0]}"
        raise EndedError(USAGE if is_usage else STOPPED, words) from None
    try:
        yield client
    except LOST:
        raise EndedError(STOPPED, RESUME) from None
    finally:
        with contextlib.suppress(*LOST):
            client.close(timeout=2)


class Count:
    """The journals that are there, all of one plan, and the shards that Dask counts."""

    def __init__(self, request: argparse.Namespace) -> None:
        """Make the folder if there is none, and find out what it lacks."""
        self.request = request
        self.running: dict[Any, int] = {}  # each task with its shard
        self.refused: dict[int, set[str]] = {}
        try:
            request.out.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=request.out).close()
        except OSError as error:
            raise EndedError(USAGE, f"--out {request.out}: {error.strerror}") from None
        report, self.missing = merge(request, request.out)
        self.plan = report.get("plan")
        if report.get("n", request.n) != request.n:
            words = f"its journals are of n = {report['n']}, not {request.n}: choose another folder"
            raise EndedError(USAGE, f"--out {request.out}: {words}")
        # Without journals of the first count, the program reads those of the second.
        if report.get("count") == "second" and not request.second:
            self.plan, self.missing = None, [*range(request.shards)]

    def keep(self, index: int, journal: bytes) -> None:
        """Check a journal and add it to the folder, whole, under a name that no file has."""
        # What a killed driver leaves there is never read.
        with tempfile.TemporaryDirectory(prefix="incoming-", dir=self.request.out) as place:
            path = Path(place, f"{name(self.request, index)}.journal")
            with path.open("xb") as file:
                file.write(journal)
                file.flush()
                os.fsync(file.fileno())
            report, missing = merge(self.request, path)
            self.plan = self.plan or report.get("plan")
            if (report.get("n"), report.get("plan")) != (self.request.n, self.plan):
                raise EndedError(FAILED, "it is of another plan than the folder: other options?")
            if index in missing:
                raise EndedError(FAILED, "its journal lacks units")
            taken, free = tempfile.mkstemp(".journal", f"{path.stem}.", self.request.out)
            os.close(taken)
            path.replace(free)
            folder = os.open(self.request.out, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)

    def count(self, client: Any) -> None:
        """Have every missing shard counted, and keep its journal as soon as it comes."""
        from distributed import as_completed

        self.client, self.completed = client, as_completed(with_results=True, raise_errors=False)
        shards = self.request.shards
        before = done = shards - len(self.missing)
        say(f"{done} of {shards} shards are there, {shards - done} to go")
        self.submit(self.missing)
        began = said = time.monotonic()
        while done < shards:
            self.workers = client.nthreads(callback_timeout=ANSWER_SECONDS).keys()
            stopping = bool(signals)
            done += self.take_all()
            if stopping:
                raise EndedError(STOPPED, "stopped: the same command resumes from here")
            if client.status != "running":
                raise ConnectionError
            now = time.monotonic()
            if now - said >= LINE_SECONDS:
                seconds = round((now - began) * (shards - done) / max(done - before, 1))
                left = timedelta(seconds=seconds) if done > before else "?"
                say(f"{done} of {shards} shards, {left} to go, workers: {len(self.workers)}")
                said = now
            time.sleep(POLL_SECONDS)
        say(f"{done} of {shards} shards are there")

    def submit(self, indices: list[int], **where: Any) -> None:
        """Have shards counted. Drivers share no task, as one of them could cancel the other's."""
        options = {"pure": False, "retries": self.request.retries, **where}
        futures = self.client.map(run_shard, indices, request=self.request, **options)
        self.running.update(zip(futures, indices))
        self.completed.update(futures)

    def take_all(self) -> int:
        """Keep the journals that have come, then fail if a task did; give how many shards came."""
        done, fault = 0, None
        for future, result in self.completed.next_batch(block=False):
            index = self.running.pop(future)
            try:
                done += self.take(index, result)
            except EndedError as error:
                fault = EndedError(error.args[0], f"{name(self.request, index)}: {error.args[1]}")
        if fault:
            raise fault
        return done

    def take(self, index: int, result: Any) -> bool:
        """Handle a task that has ended; return whether its shard is counted."""
        if isinstance(result, BaseException):
            raise EndedError(STOPPED, RESUME)
        if isinstance(result[1], BaseException):
            raise EndedError(FAILED, (str(result[1]) or repr(result[1])).splitlines()[0])
        code, worker, words, journal = result
        if code in NOT_HERE:
            # Elsewhere: the worker that has just refused it is idle, so Dask would choose it.
            refused = self.refused.setdefault(index, set())
            refused.add(worker)
            if refused.issuperset(self.workers):
                raise EndedError(NOT_NOW, f"no worker can count it: {words}")
            others = [*(self.workers - refused)]
            self.submit([index], workers=others, allow_other_workers=True)
        elif code != DONE:
            raise EndedError(code, words)
        elif journal:
            self.keep(index, journal)
        return bool(code == DONE)


def run(request: argparse.Namespace) -> int:
    """Count what is missing, then print the total."""
    if shutil.which(request.program) is None:
        raise EndedError(USAGE, f"there is no program '{request.program}' here: use --program")
    count = Count(request)
    if count.missing:
        with connect(request) as client:
            count.count(client)
    merge = [request.program, "merge", str(request.out), *request.which]
    return subprocess.run(merge, check=False).returncode


def interrupt(number: int, _: object) -> None:
    """Stop after Ctrl-C or SIGTERM; a second one ends the process at once."""
    signal.signal(number, signal.SIG_DFL)
    signals.append(number)


def main(argv: Sequence[str]) -> int:
    """Run, and turn every end into an exit code and one line."""
    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGTERM, interrupt)
    try:
        return run(parse_arguments(argv))
    except EndedError as error:
        code, message = error.args
    except ImportError as error:
        code, message = USAGE, f"{error}: pip install distributed"
    except OSError as error:
        code, message = FAILED, f"{error.filename or 'the system'}: {error.strerror or error}"
    say(message)
    return int(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
