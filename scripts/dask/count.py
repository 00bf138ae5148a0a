#!/usr/bin/env python3
"""Count the solutions of the n-queens problem on the workers of a Dask cluster.

Each shard of the count is one Dask task. A worker runs `nqueens count --shard` in a temporary folder and returns the
journal, which this program, the driver, writes into FOLDER. So workers and driver need no common file system. The same
command, run again, counts only the shards that FOLDER lacks. At the end `nqueens merge FOLDER` prints the total.
Options of `nqueens count`, such as --engine, may follow `--`.

The exit codes are the ones that `nqueens --help` lists. If a shard fails too often, the code is 1, or 4 if the
reason was memory or threads that other programs use. If the scheduler is gone, the code is 3.
"""

from __future__ import annotations

import argparse
import asyncio
import concurrent.futures
import contextlib
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

DONE, FAILED, USAGE, STOPPED, NOT_NOW = range(5)
# What Dask raises if the scheduler is gone. In Python 3.10 a timeout of asyncio is no OSError.
GONE = (OSError, asyncio.TimeoutError, concurrent.futures.CancelledError)


class EndError(Exception):
    """The end of a task or of the driver. Its arguments are an exit code and a message."""


def count_shard(shard: str, command: list[str]) -> bytes | EndError:
    """Count a shard on a worker, and return the journal.

    A failure is raised, so that Dask tries the task again. Wrong usage is returned, because no worker would accept it.
    """
    from distributed import get_worker

    # Dask itself removes the worker's folder if the worker is killed.
    with tempfile.TemporaryDirectory(prefix="nqueens-", dir=get_worker().local_directory) as folder:
        try:
            done = subprocess.run(
                [*command, "--shard", shard, "--journal", f"{folder}/"], capture_output=True, check=False
            )
        except OSError as error:
            raise EndError(FAILED, f"host {socket.gethostname()}: {error}") from None
        if done.returncode == DONE:
            return b"".join(path.read_bytes() for path in Path(folder).glob("*.journal"))
        code = done.returncode
        ending = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        lines = done.stderr.decode(errors="replace").strip().splitlines() or [f"{command[0]} {ending}"]
        # An error in the options comes first, with advice below it. Any other error is the last line.
        reason = lines[0] if lines[0].startswith("error: ") else lines[-1]
        end = EndError(code, f"host {socket.gethostname()}: {reason}")
        if code == USAGE:
            return end
        raise end


def missing_shards(merge: list[str], n: int, which: str, shards: int) -> list[int]:
    """Return the shards that the journals in the folder lack. The program decides, because it checks every line."""
    asked = subprocess.run([*merge, "--json"], stdout=subprocess.PIPE, check=False)
    if not asked.stdout:
        raise EndError(asked.returncode or FAILED, "nqueens merge does not say what is missing")
    report = json.loads(asked.stdout)
    if report["n"] not in (None, n):
        raise EndError(USAGE, f"the folder holds journals of n = {report['n']}: choose another one")
    if report["n"] is None:
        return list(range(shards))
    if report["count"] != which:
        raise EndError(USAGE, f"the folder holds journals of another count ({report['count']}): choose another one")
    missing: list[int] = []
    for part in filter(None, (report["missing"]["indices"] or "").split(",")):  # as in 3,7-9
        first, _, last = part.partition("-")
        missing += range(int(first), int(last or first) + 1)
    return missing


def save(journal: bytes, path: Path) -> None:
    """Write a journal so that a file of this name is complete, and is there after a power cut."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as file:
            file.write(journal)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise EndError(FAILED, f"cannot write {path}: {error.strerror}") from None
    # Some file systems cannot sync a folder. The journal itself is on the disk.
    with contextlib.suppress(OSError):
        descriptor = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def count_missing(request: argparse.Namespace, command: list[str], missing: list[int]) -> None:
    """Have Dask count the missing shards, and save each journal as soon as it arrives."""
    from distributed import Client, as_completed

    logging.disable(logging.CRITICAL)  # A lost scheduler is reported here in one line, not by Dask in many.
    try:
        client = Client(request.scheduler)
    except (*GONE, ValueError) as error:
        # A ValueError is an address that stays wrong.
        code = USAGE if isinstance(error, ValueError) else STOPPED
        raise EndError(code, f"no scheduler at {request.scheduler}: {error}") from None
    try:
        shards = [f"{index}/{request.shards}" for index in missing]
        futures = client.map(count_shard, shards, command=command, retries=3)
        indices = dict(zip(futures, missing, strict=True))
        say(f"shards to count: {len(missing)} of {request.shards}, workers: {len(client.nthreads())}")
        for future in as_completed(futures):
            count = "second-" if request.second else ""
            shard = f"n{request.n}-{count}{indices[future]:04}-of-{request.shards:04}"
            # An error of Dask itself is, for example, that too many workers died.
            journal = future.exception() if future.status == "error" else future.result()
            if isinstance(journal, BaseException):
                code, message = journal.args if isinstance(journal, EndError) else (FAILED, str(journal))
                raise EndError(code if code in (USAGE, STOPPED, NOT_NOW) else FAILED, f"{shard}: {message}")
            if journal:  # A shard without units has no journal.
                save(journal, request.out / f"{shard}.journal")
            say(f"{shard} is counted")
            future.release()  # The worker need not keep the journal any more.
    finally:
        # Dask cancels the tasks of a client that closes.
        with contextlib.suppress(*GONE):
            client.close()


def drive(argv: list[str]) -> int:
    """Count what is missing, then print the total."""
    split = argv.index("--") if "--" in argv else len(argv)
    summary, _, rest = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("n", metavar="N", type=int, help="size of the board")
    parser.add_argument("--scheduler", metavar="ADDRESS", required=True, help="for example tcp://10.0.0.1:8786")
    parser.add_argument("--shards", metavar="K", type=int, required=True, help="number of shards")
    parser.add_argument("--out", metavar="FOLDER", type=Path, required=True, help="folder for the journals")
    parser.add_argument("--second", action="store_true", help="run the second count, in a folder of its own")
    parser.add_argument("--threads", metavar="T", type=int, default=1, help="threads of a task [%(default)s]")
    parser.add_argument("--program", default="nqueens", help="nqueens, here and on the workers [%(default)s]")
    request = parser.parse_args(argv[:split])
    second = ["--second"] if request.second else []
    command = [request.program, "count", str(request.n), *second, "--threads", str(request.threads), *argv[split + 1 :]]
    merge = [request.program, "merge", str(request.out), "--shards", str(request.shards)]
    which = "second" if request.second else "first"
    try:
        request.out.mkdir(exist_ok=True)
        missing = missing_shards(merge, request.n, which, request.shards)
    except (FileExistsError, FileNotFoundError, NotADirectoryError) as error:
        raise EndError(USAGE, str(error)) from None
    except OSError as error:
        raise EndError(FAILED, str(error)) from None
    if missing:
        count_missing(request, command, missing)
    return subprocess.run(merge, check=False).returncode


def say(message: str) -> None:
    """Print one line on standard error. If nobody takes it, the count goes on."""
    with contextlib.suppress(OSError):
        print("count.py:", " ".join(message.split()), file=sys.stderr, flush=True)


def main(argv: list[str]) -> int:
    """Run the driver, and turn every end into an exit code and one line."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return drive(argv)
    except EndError as error:
        code, message = error.args
    except ImportError as error:
        code, message = USAGE, f"{error}: pip install distributed"
    except GONE:
        code, message = STOPPED, "the connection to the scheduler is lost: the same command goes on"
    except KeyboardInterrupt:
        code, message = STOPPED, "stopped: the same command goes on"
    say(message)
    return int(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
