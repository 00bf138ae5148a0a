#!/usr/bin/env python3
"""Count the solutions of the n-queens problem on the workers of a Dask cluster.

Each shard of the count is one Dask task. A worker runs `nqueens count --shard` in a temporary folder and returns the
journal, which this program, the driver, writes into FOLDER. So workers and driver need no common file system. The same
command, run again, counts only the shards that FOLDER lacks. At the end `nqueens merge FOLDER` prints the total.
Options of `nqueens count`, such as --engine, may follow `--`.

A shard that fails is tried again, if possible on another host, while the others go on. The exit codes are the ones
that `nqueens --help` lists, and scripts/dask/README.md says what to do.

It needs Python 3.10 or later, and the package `distributed`.
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
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distributed import Client, Future

DONE, FAILED, USAGE, STOPPED, NOT_NOW = range(5)
# What Dask raises if the scheduler is gone. In Python 3.10 a timeout of asyncio is no OSError.
GONE = (OSError, asyncio.TimeoutError, concurrent.futures.CancelledError)
# How often a shard is tried, so that one that fails everywhere ends.
MAX_TRIES = 4


class EndError(Exception):
    """The end of a task or of the driver. Its arguments are an exit code and a message."""


def host_of(address: str) -> str:
    """Return the address of a worker without its port."""
    return address.rpartition(":")[0]


def count_shard(shard: str, command: list[str], avoided: list[str]) -> tuple[str, dict[str, bytes] | EndError | None]:
    """Count a shard on a worker, and return the worker's host, and the journals by their names or the failure.

    On a host that is to be avoided, nothing is done. Dask gives such a host a task of a busy one if it is idle.
    """
    from distributed import get_worker

    worker = get_worker()
    host = host_of(worker.address)
    if host in avoided:
        time.sleep(1)  # or the task would come back at once, again and again
        return host, None
    try:
        # Dask itself removes the worker's folder if the worker is killed.
        with tempfile.TemporaryDirectory(prefix="nqueens-", dir=worker.local_directory) as folder:
            done = subprocess.run([*command, "--shard", shard, "--journal", folder], capture_output=True, check=False)
            journals = {path.name: path.read_bytes() for path in Path(folder).glob("*.journal")}
    except OSError as error:
        return host, EndError(FAILED, f"host {socket.gethostname()}: {error}")
    code = done.returncode
    if code == DONE:
        return host, journals
    ending = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
    lines = done.stderr.decode(errors="replace").strip().splitlines() or [f"{command[0]} {ending}"]
    # An error in the options comes first, with advice below it. Any other error is the last line.
    reason = lines[0] if lines[0].startswith("error: ") else lines[-1]
    code = code if code in (USAGE, STOPPED, NOT_NOW) else FAILED
    return host, EndError(code, f"host {socket.gethostname()}: {reason}")


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
    if report["pass"] != which:
        raise EndError(USAGE, f"the folder holds journals of another pass ({report['pass']}): choose another one")
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


def try_again(client: Client, shard: str, command: list[str], failed_on: list[str]) -> Future[Any]:
    """Have Dask count a shard after all others, on hosts where it has not failed yet, if there are any."""
    others = [address for address in client.nthreads() if host_of(address) not in failed_on]
    return client.submit(
        count_shard,
        shard,
        command=command,
        avoided=failed_on if others else [],
        workers=others or None,
        allow_other_workers=bool(others),  # If these workers go away, the task must not wait for them.
        priority=-len(failed_on),
        pure=False,
    )


def count_on(client: Client, request: argparse.Namespace, command: list[str], missing: list[int]) -> None:
    """Have the workers count the missing shards, and save each journal as soon as it arrives."""
    from distributed import as_completed

    shards = {index: f"{index}/{request.shards}" for index in missing}
    futures = client.map(count_shard, list(shards.values()), command=command, avoided=[])
    indices = dict(zip(futures, missing, strict=True))
    say(f"shards to count: {len(missing)} of {request.shards}, workers: {len(client.nthreads())}")
    failed_on: dict[int, list[str]] = {index: [] for index in missing}
    failures: list[EndError] = []
    running = as_completed(futures)
    for future in running:
        index = indices[future]
        name = f"n{request.n}-{'second-' if request.second else ''}{index:04}-of-{request.shards:04}"
        if future.status == "error":  # An error of Dask itself is, for example, that too many workers died.
            host, result = None, EndError(FAILED, str(future.exception()))
        else:
            host, result = future.result()
        future.release()  # The worker need not keep the journal any more.
        if isinstance(result, dict):
            for file, journal in result.items():  # A shard without units has none.
                save(journal, request.out / Path(file).name)
            say(f"{name} is counted")
            continue
        if result is not None:
            code, message = result.args
            failure = EndError(code, f"{name}: {message}")
            if code == USAGE:  # No worker would accept it.
                raise failure
            say(f"{name}: {message}")
            if host is not None:
                failed_on[index].append(host)
            if host is None or len(failed_on[index]) == MAX_TRIES:
                failures.append(failure)
                continue
        again = try_again(client, shards[index], command, failed_on[index])
        indices[again] = index
        running.add(again)
    if failures:
        raise min(failures, key=lambda failure: int(failure.args[0]))


def count_missing(request: argparse.Namespace, command: list[str], missing: list[int]) -> None:
    """Connect to the scheduler, and count the missing shards."""
    from distributed import Client

    logging.disable(logging.CRITICAL)  # A lost scheduler is reported here in one line, not by Dask in many.
    try:
        client = Client(request.scheduler)
    except (*GONE, ValueError) as error:
        # A ValueError is an address that stays wrong.
        code = USAGE if isinstance(error, ValueError) else STOPPED
        raise EndError(code, f"no scheduler at {request.scheduler}: {error}") from None
    try:
        count_on(client, request, command, missing)
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
    parser.add_argument("--second", action="store_true", help="run the second pass, in a folder of its own")
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
