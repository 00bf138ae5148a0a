#!/usr/bin/env python3
"""Counts boards and compares each forecast on the way with the time that the rest really took.

    scripts/check-forecast.py [--boards 20,21] [--threads 1,2] [--runs 10] [--load 0] [--pauses SECONDS] [--kills 0]

Prints a row for each board and number of threads: the first forecast of the bar, its ± and the truth, of the
first run; and how many of all forecasts, of the bar and of `status`, covered the truth. With --load so many
other processes compute meanwhile, with --pauses each of them by turns with pauses that last about so long, at
random. With --kills each count is killed so often and resumed. A killed count goes on at once, so its time is that
of all its processes together.

Exits with 1 if fewer than nine of ten forecasts of a row covered the truth. Takes as long as the counts take;
the program is $NQUEENS or target/release/nqueens.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = os.environ.get("NQUEENS") or Path(__file__).parent.parent / "target/release/nqueens"
UNITS = {"µs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600, "d": 86400}
# Computes without an end, or by turns with pauses.
LOAD = """
import random, sys, time
mean = float(sys.argv[1])
while True:
    end = time.monotonic() + (random.expovariate(1 / mean) if mean else 1)
    while time.monotonic() < end:
        pass
    time.sleep(random.expovariate(1 / mean) if mean else 0)
"""
ETA = re.compile(r"ETA ([0-9. µsmhd]+) ± ([0-9. µsmhd]+)")


def seconds(text):
    """The seconds of `190 ms`, `12.3 s`, `1m05s` or `3h40m`."""
    return sum(float(number) * UNITS[unit] for number, unit in re.findall(r"([0-9.]+) ?(µs|ms|[smhd])", text))


def status(journal):
    """The seconds left and their error as `status` tells them; None for what it does not know."""
    told = subprocess.run([PROGRAM, "status", journal, "--json"], capture_output=True, check=False)
    fields = json.loads(told.stdout or "{}")
    return fields.get("seconds_left"), fields.get("seconds_left_error")


def count(board, threads, journal, end_after):
    """Runs a count until its end, or kills it. Returns its forecasts, each with its moment, and its time."""
    command = [PROGRAM, "count", str(board), "-t", str(threads), "--journal", journal]
    begun = time.monotonic()
    process = subprocess.Popen(
        [*command, "--progress", "always"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    forecasts = []
    for line in process.stderr:
        now = time.monotonic() - begun
        if told := ETA.search(line):
            forecasts.append(("bar", now, *map(seconds, told.groups())))
            if None not in (left := status(journal)):
                forecasts.append(("status", now, *left))
        if end_after and now > end_after:
            process.kill()
    process.wait()
    return forecasts, time.monotonic() - begun, process.returncode == 0


def whole_count(board, threads, kills, usual):
    """The forecasts of a count and of those that resume it, with what the rest took."""
    with tempfile.TemporaryDirectory() as folder:
        journal = str(Path(folder) / "count.journal")
        moments = sorted(random.uniform(0.1, 0.9) * usual for _ in range(kills))
        found, spent, is_done = [], 0.0, False
        while not is_done:
            end_after = max(moments.pop(0) - spent, 0.1) if moments else None
            forecasts, took, is_done = count(board, threads, journal, end_after)
            found += [(by, spent + now, left, error) for by, now, left, error in forecasts]
            spent += took
    return [(by, now, left, error, spent - now) for by, now, left, error in found], spent


def main():
    lists = {"type": lambda text: [int(number) for number in text.split(",")]}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--boards", default=[20], **lists)
    parser.add_argument("--threads", default=[1, 2], **lists)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--load", type=int, default=0)
    parser.add_argument("--pauses", type=float, default=0)
    parser.add_argument("--kills", type=int, default=0)
    args = parser.parse_args()
    load = [subprocess.Popen([sys.executable, "-c", LOAD, str(args.pauses)]) for _ in range(args.load)]
    is_honest = True
    try:
        print("| n | threads | first forecast after | it says | truth | covered by the bar | by `status` |")
        print("|--:|--:|--:|--:|--:|--:|--:|")
        for board in args.boards:
            for threads in args.threads:
                runs, usual = [], 0.0
                for _ in range(args.runs):
                    forecasts, usual = whole_count(board, threads, args.kills if usual else 0, usual)
                    runs.append(forecasts)
                first = next(iter(runs[0]), None)
                cells = [f"{first[1]:.1f} s", f"{first[2]:.0f} ± {first[3]:.0f} s", f"{first[4]:.0f} s"] if first else ["-"] * 3
                for by in ["bar", "status"]:
                    told = [told for run in runs for told in run if told[0] == by]
                    covered = sum(abs(left - truth) <= error for _, _, left, error, truth in told)
                    cells.append(f"{covered} of {len(told)}")
                    is_honest &= 10 * covered >= 9 * len(told)
                print("|", " | ".join([str(board), str(threads), *cells]), "|", flush=True)
    finally:
        for process in load:
            process.kill()
    sys.exit(0 if is_honest else 1)


if __name__ == "__main__":
    main()
