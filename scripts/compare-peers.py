#!/usr/bin/env python3
"""Times nqueens and other programs that count n queens, in turn on one CPU of this machine.

Fetches the other programs from GitHub at the commits named here; clones in target/peers need no network. Builds
them as their authors advise, and chooses between their compiler flags by a short race. Then all count each board
in turn, --rounds times. A count that differs from the published one is exit code 1. After a count that takes
longer than --seconds-limit, a program is left out from further rounds and larger boards. --picture draws the
medians of a file:
compare-peers.py --picture benches/record/2026-11-29-zen4-peers.csv > docs/pictures/peers.svg

Needs Python 3.7, Linux, Rust, git, gcc and g++, and an idle machine for useful figures.
"""

import argparse
import csv
import json
import math
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from pathlib import Path
from typing import Callable

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute()
NQUEENS = TARGET / "release/nqueens"
COLUMNS = "date machine program commit compiler build n round cpu_seconds wall_seconds count note"
RACE = 0  # The round of races, in which flags are chosen. No median takes them.
# Every program counts this board first, asked for or not: it shows whether the program works, and flags race on it.
FIRST_BOARD = 16


@dataclass(eq=False)
class Program:
    """Where a program comes from, how it is built and run, and the sets of flags that race against each other."""

    name: str
    arguments: Callable = lambda n: [n]
    answer: str = r"^(\d+)$"  # Finds the count in what it prints.
    github: str = ""  # Nothing for what is ours.
    commit: str = ""
    folder: str = ""  # In its repository.
    compiler: tuple = ()  # Nothing where cargo has built it.
    flags: tuple = ("",)  # For the compiler, and settings NAME=VALUE for `edits`.
    edits: Callable = lambda n, settings: []  # The file, what is in it once, and what replaces that.


def nqueens(name, *options):
    return Program(name, lambda n: ["count", n, "--threads", "1", "--quiet", *options])


def authors_table(n, settings):
    """The author's settings for boards 16 to 22; races over all of them found none that is 8 % faster."""
    for name, value in (setting.split("=") for setting in settings):
        yield "cfg.h", f"int {name} = 8;", f"int {name} = {value};"
    cuts, least = (0, 40) if n < 20 else (3, 60) if n < 22 else (6, 80)
    yield "solcounter.h", "int size = 18;", f"int size = {n};"
    yield "solcounter.h", "sieveCuts = 0,", f"sieveCuts = {cuts},"
    yield "solcounter.h", "matchMinSize = 40,", f"matchMinSize = {least},"
    yield "solcounter.h", "prefetch = false,", "prefetch = true,"
    yield "prefetch.h", "//#include", "#include"
    if n > 18:
        yield "solcounter.h", "bmiIntrin = false,", "bmiIntrin = true,"
        yield "bmintrin.h", "//#include", "#include"
    if n > 21:
        yield "solcounter.h", "QNoSymmetry, PackIter", "QRowSymmetry, PackIter"


CONSTELLATIONS = "004GCC_constellation.c"
PROGRAMS = [
    nqueens("nqueens"),
    nqueens("nqueens, AVX2", "--kernel", "avx2"),
    # Its README advises -O3 and the CPU by -march, with haswell as the example; BMI2 and prefetch by an include
    # each; a table of settings for each board; and for AVX-512 another matchGroupSize than 8. Arguments: threads, shares
    # of the board, which of them.
    Program(
        "N-Queens-Count-Sol",
        lambda n: ["1", "1", "0"],
        answer=r"^Result: (\d+)$",
        github="EvgenyKluev/N-Queens-Count-Sol",
        commit="580f44458d14a3352bf37ccd58d9f0b96de41c05",
        compiler=("g++", "-std=c++20", "-O3", "main.cpp"),
        flags=(
            "-march=native",
            "-march=haswell -mtune=haswell",
            "-march=native matchGroupSize=4",
            "-march=native matchGroupSize=16",
            "-march=native matchGroupSize=32",
        ),
        edits=authors_table,
    ),
    # Its comment advises gcc -O3. It has one thread. As shipped it counts 4 to 18, here the board of its argument.
    Program(
        "004GCC_constellation",
        answer=r"^ *{n}: *(\d+)",
        github="suzukiiichiro/N-Queens",
        commit="029571ac14bb909594fc4f62f3e2fee7bdd3824a",
        folder="10Bit_CUDA",
        compiler=("gcc", "-O3", CONSTELLATIONS),
        flags=("", "-march=native"),
        edits=lambda n, _: [(CONSTELLATIONS, "min=4;", f"min={n};"), (CONSTELLATIONS, "targetN=18;", f"targetN={n};")],
    ),
    # Its README advises gcc -O2 for this CPU; without -fopenmp it has one thread.
    Program(
        "m-queens",
        answer=r"Solutions +(\d+)",
        github="sudden6/m-queens",
        commit="93a53fe066766735a1251160d4dbb843a7b33203",
        compiler=("gcc", "-std=c99", "-march=native", "-mtune=native", "main.c"),
        flags=("-O2", "-O3"),
    ),
    Program("textbook C", compiler=("gcc", "-O3", "-march=native", str(ROOT / "scripts/textbook.c"))),
]


def say(*words, end="\n"):
    print(*words, end=end, file=sys.stderr, flush=True)


def output(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}")
    return done.stdout.strip()


def succeeds(*command, **how):
    return subprocess.run(command, stdin=subprocess.DEVNULL, check=False, **how).returncode == 0


@lru_cache(maxsize=None)
def version(compiler):
    return output(compiler, "--version").split("\n")[0]


def read(file):
    with Path(file).open(encoding="utf-8") as lines:
        return list(csv.DictReader(line for line in lines if not line.startswith("#")))


@lru_cache(maxsize=None)
def published():
    return {int(row["n"]): row["total"] for row in read(ROOT / "src/board/known-counts.csv")}


@lru_cache(maxsize=None)
def repository(program):
    """The folder of a repository with the commit of a program, fetched if it is not there, or None."""
    link = f"https://github.com/{program.github}"
    folder = TARGET / "peers" / program.github.split("/")[1]
    has_commit = ["git", "-C", folder, "cat-file", "-e", program.commit + "^{commit}"]
    if folder.is_dir() and succeeds(*has_commit, stderr=subprocess.DEVNULL):
        return folder
    say(f"fetching {link}")
    output("git", "init", "--quiet", "--bare", folder)
    fetch = ["git", "-C", folder, "fetch", "--quiet", "--depth", "1", link, program.commit]
    return folder if succeeds(*fetch, env={**os.environ, "GIT_TERMINAL_PROMPT": "0"}) else None


def run(command):
    """Runs a program on one CPU: its exit code, what it prints, CPU and wall seconds."""
    cores, begun = os.sched_getaffinity(0), time.monotonic()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Inherited. A preexec_fn would add milliseconds of Python to the count's.
    os.sched_setaffinity(0, {max(cores)})
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True, check=False)
    os.sched_setaffinity(0, cores)
    wall, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return done.returncode, done.stdout, cpu, wall


class Comparison:
    """All measurements, and the CSV that they go to."""

    def __init__(self, options, file, folder):
        self.options, self.file, self.folder = options, file, folder
        cpu = json.loads(output(NQUEENS, "cpu", "--json"))
        self.kernel = cpu["kernel"]
        self.commit = output("git", "-C", ROOT, "describe", "--always", "--dirty")
        self.same = {"date": time.strftime("%Y-%m-%d"), "machine": cpu["cpu"]}
        self.rows = csv.DictWriter(file, COLUMNS.split(), lineterminator="\n")
        self.rows.writeheader()
        self.build = lru_cache(maxsize=None)(self.build)

    def write(self, program, n, **fields):
        commit = program.commit[:7] or self.commit
        compiler = version(program.compiler[0] if program.compiler else "rustc")
        fields |= {"program": program.name, "commit": commit, "compiler": compiler, "n": n}
        self.rows.writerow(self.same | fields)
        self.file.flush()

    def build(self, program, n, flags):
        """The program, built for a board, or None if that fails."""
        if not program.compiler:
            return NQUEENS
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        if program.github:
            tree, archive = f"{program.commit}:{program.folder}", folder / "sources.tar"
            output("git", "-C", repository(program), "archive", "--output", archive, tree)
            shutil.unpack_archive(archive, folder)
        settings = [flag for flag in flags.split() if not flag.startswith("-")]
        options = [flag for flag in flags.split() if flag.startswith("-")]
        for file, old, new in program.edits(n, settings):
            text = (folder / file).read_text(encoding="utf-8")
            if text.count(old) != 1:
                sys.exit(f"{program.name}: {file} does not have '{old}' once: this script does not know the commit")
            (folder / file).write_text(text.replace(old, new), encoding="utf-8")
        built = succeeds(*program.compiler, *options, "-w", "-o", "program", cwd=folder)
        return folder / "program" if built else None

    def count(self, program, n, flags, number):
        """Counts a board, writes a row, and returns the CPU seconds."""
        build = " ".join([*program.compiler[:-1], flags]).strip()
        build = build or "kernel " + ("avx2" if "AVX2" in program.name else self.kernel)
        say(f"n = {n}  {program.name}, {f'round {number}' if number else 'race'}, {build}", end=": ")
        fields = {"build": build, "round": number, "note": "" if number else "race"}
        seconds, command = math.inf, self.build(program, n, flags)
        if not command:
            fields["note"] = "does not build here"
        else:
            code, text, cpu, wall = run([command, *program.arguments(n)])
            found = re.search(program.answer.replace("{n}", str(n)), text, re.MULTILINE)
            if code or not found:
                fields["note"] = f"no count: exit code {code}"
            elif found[1] != published()[n]:
                sys.exit(f"{program.name} counts {found[1]} at n = {n}; {published()[n]} are published")
            else:
                seconds = cpu
                fields |= {"cpu_seconds": f"{cpu:.4f}", "wall_seconds": f"{wall:.4f}", "count": found[1]}
        say(f"{seconds:.3f} s" if seconds < math.inf else fields["note"])
        self.write(program, n, **fields)
        return seconds

    def all(self):
        flags, left_out, limit = {}, {}, self.options.seconds_limit
        for program in PROGRAMS:
            if "AVX2" in program.name and self.kernel != "avx512":
                left_out[program] = "it is the same as nqueens here"
            elif program.github and not repository(program):
                left_out[program] = "its commit cannot be fetched"
            else:
                times = {of: min(self.count(program, FIRST_BOARD, of, RACE) for _ in range(2)) for of in program.flags}
                flags[program] = min(times, key=times.get)
                if times[flags[program]] == math.inf:
                    left_out[program] = "it does not count here"
        for n in self.options.boards:
            for program, why in left_out.items():
                say(f"n = {n}  {program.name}: left out: {why}")
                self.write(program, n, note=f"left out: {why}")
            programs = [program for program in PROGRAMS if program not in left_out]
            for number in range(1, self.options.rounds + 1):
                for program in [program for program in programs if program not in left_out]:
                    seconds = self.count(program, n, flags[program], number)
                    if seconds > limit:
                        left_out[program] = f"n = {n} took {seconds:.3g} s, more than {limit:g} s"


def medians(file):
    """Returns the median CPU seconds of each program in a CSV, by the board."""
    times = {}
    for row in read(file):
        if row["cpu_seconds"] and int(row["round"]) != RACE:
            times.setdefault(row["program"], {}).setdefault(int(row["n"]), []).append(Decimal(row["cpu_seconds"]))
    return {name: {n: statistics.median(of) for n, of in by_board.items()} for name, by_board in times.items()}


def rounded(seconds, digits):
    """Returns a number of seconds with this many significant digits, or whole seconds. 0.235 becomes 0.24."""
    digits = max(digits, seconds.adjusted() + 1)
    return f"{Context(prec=digits, rounding=ROUND_HALF_UP).plus(seconds):f}"


def table(file):
    """Prints the medians of a CSV as Markdown."""
    by_program = medians(file)
    boards = sorted({n for by_board in by_program.values() for n in by_board})
    print(f"| median CPU seconds | {' | '.join(f'n = {n}' for n in boards)} |\n|---|{'--:|' * len(boards)}")
    for name, by_board in by_program.items():
        print(f"| {name} | {' | '.join(rounded(by_board[n], 3) if n in by_board else '' for n in boards)} |")
    others = [of for name, of in by_program.items() if not name.startswith("nqueens")]
    best = {n: min(of[n] for of in others if n in of) for n in boards if any(n in of for of in others)}
    own = by_program.get("nqueens", {})
    ratios = [f"**{best[n] / own[n]:.1f}**" if n in best and n in own else "" for n in boards]
    print(f"| **nqueens: times as fast as the best other program** | {' | '.join(ratios)} |")


# The programs in the picture, each with the name that it has there, its colour and the width of its line. Colour-blind
# readers can tell the colours apart, which `nqueens compare --svg` uses, too.
LINES = {
    "nqueens": ("nqueens, AVX-512", "#c44a00", 3),
    "nqueens, AVX2": ("nqueens, AVX2", "#c44a00", 2),
    "N-Queens-Count-Sol": ("N-Queens-Count-Sol", "#0066a6", 2),
    "004GCC_constellation": ("004GCC (constellations)", "#00805c", 2),
    "m-queens": ("m-queens", "#b37a00", 2),
    "textbook C": ("textbook C", "#404040", 2),
}
LEFT, RIGHT, TOP, BOTTOM = 66, 510, 76.9, 420  # The ends of the axes, in pixels.
LABEL_HEIGHT = 21


def picture(file):
    """Prints the medians of a CSV as an SVG, with a logarithmic axis for the seconds."""
    by_program = medians(file)
    boards = sorted({n for by_board in by_program.values() for n in by_board})
    seconds = [time for by_board in by_program.values() for time in by_board.values()]
    low, high = math.floor(math.log10(min(seconds))), math.ceil(math.log10(max(seconds)))

    def x(n):
        return LEFT + 26 + (RIGHT - LEFT - 46) * (n - boards[0]) / max(boards[-1] - boards[0], 1)

    def y(time):
        return BOTTOM - (BOTTOM - TOP) * (math.log10(time) - low) / (high - low)

    title = "Counting n queens on one CPU"
    names = {program: LINES.get(program, (program,))[0] for program in by_program}
    times = [
        f"{names[program]}: {', '.join(f'n = {n}: {rounded(time, 2)} s' for n, time in sorted(by_board.items()))}."
        for program, by_board in by_program.items()
    ]
    print('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 830 456" width="830" height="456">')
    print(f"<title>{title}</title>")
    print(f"<desc>{' '.join(times)}</desc>")
    print('<rect width="100%" height="100%" fill="#fff"/>')
    print('<g font-family="sans-serif" font-size="15" fill="#202020">')
    print(f'<text x="14" y="28" font-size="20" font-weight="bold">{title}</text>')
    print('<text x="14" y="52">CPU seconds, less is better. Every total agrees with the published one.</text>')
    for n in boards:
        name = f"n = {n}" if n == boards[0] else n
        print(f'<text x="{x(n):.1f}" y="{BOTTOM + 22}" text-anchor="middle">{name}</text>')
    for power in range(low, high + 1):
        print(f'<path d="M{LEFT} {y(10**power):.1f}H{RIGHT}" stroke="#e2e2e2"/>')
        print(f'<text x="{LEFT - 8}" y="{y(10**power) + 5:.1f}" text-anchor="end">{10**power:g} s</text>')
    # Labels stand at the right, each at the height of the last point of its line or below the label before.
    label = 0
    for program in sorted(by_program, key=lambda program: y(by_program[program][max(by_program[program])])):
        name, colour, width = LINES.get(program, (program, "#404040", 2))
        points = [(x(n), y(time)) for n, time in sorted(by_program[program].items())]
        last = points[-1]
        label = max(last[1], label + LABEL_HEIGHT)
        leader = f"M{last[0] + 6:.1f} {last[1]:.1f}L{RIGHT + 14} {label:.1f}h6"
        print(f'<path d="{leader}" fill="none" stroke="{colour}" stroke-dasharray="1 3"/>')
        line = "L".join(f"{along:.1f} {down:.1f}" for along, down in points)
        print(f'<path d="M{line}" fill="none" stroke="{colour}" stroke-width="{width}"/>')
        for along, down in points:
            print(f'<circle cx="{along:.1f}" cy="{down:.1f}" r="3.5" fill="{colour}"/>')
        weight = ' font-weight="bold"' if program == "nqueens" else ""
        print(f'<text x="{RIGHT + 26}" y="{label + 5:.1f}"{weight}>{name}</text>')
    print("</g>\n</svg>")


def boards(text):
    """A list of boards and ranges: 16-18,20."""
    parts = [part.split("-") for part in text.split(",")]
    found = sorted({n for part in parts for n in range(int(part[0]), int(part[-1]) + 1)})
    if not found or not FIRST_BOARD <= found[0] <= found[-1] <= 27:
        raise argparse.ArgumentTypeError(f"boards are {FIRST_BOARD} to 27")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boards", type=boards, default="16-20", help="such as 16-18,20 (default: 16-20)")
    parser.add_argument("--rounds", type=int, choices=range(1, 100), metavar="N", default=3, help="default: 3")
    parser.add_argument("--seconds-limit", type=float, metavar="S", default=120, help="of one count (default: 120)")
    parser.add_argument("--out", type=Path, metavar="FILE.csv", help="a new file (default: in benches/record)")
    parser.add_argument("--table", type=Path, metavar="FILE.csv", help="only print this one as Markdown")
    parser.add_argument("--picture", type=Path, metavar="FILE.csv", help="only draw this one as SVG")
    options = parser.parse_args()
    if options.table:
        return table(options.table)
    if options.picture:
        return picture(options.picture)
    path = options.out or ROOT / f"benches/record/{time.strftime('%F')}-peers.csv"
    if not succeeds("cargo", "build", "--release", "--quiet", cwd=ROOT):
        sys.exit("nqueens cannot be built: cargo build --release")
    with path.open("x", newline="", encoding="utf-8") as file, tempfile.TemporaryDirectory() as folder:
        say(f"each run goes to {path}")
        Comparison(options, file, folder).all()
    return table(path)


if __name__ == "__main__":
    main()
