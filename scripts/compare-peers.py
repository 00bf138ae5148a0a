#!/usr/bin/env python3
"""Times nqueens and other programs side by side on one core: what compare-peers.sh runs, which explains it."""

import argparse
import csv
import hashlib
import json
import math
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cache
from html import escape
from pathlib import Path
from typing import Callable

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", "target")).absolute()
NQUEENS, PEERS = TARGET / "release/nqueens", TARGET / "peers"
CC, CXX = os.environ.get("CC", "gcc"), os.environ.get("CXX", "g++")
COLUMNS = "date machine program commit compiler build n round cpu_seconds wall_seconds peak_rss_kib count note"
RACE = 0  # The round of races, in which settings are chosen. No median takes them.
# Every program counts this board first, asked for or not. It shows whether the program works, its settings
# race on it, and larger boards are predicted from it: each takes about GROWTH times as long.
FIRST_BOARD, GROWTH = 16, 8


@dataclass(eq=False)
class Program:
    """Where a program comes from, how it is built and run, and the settings that race against each other."""

    name: str
    method: str
    colour: str  # Colours differ for colour-blind readers too; they are those of src/cli/plot.rs.
    answer: str = r"^(\d+)$"  # Finds the count in what it prints.
    github: str = ""  # Nothing for what is ours.
    commit: str = ""
    files: list = field(default_factory=list)
    compiler: list = field(default_factory=list)  # Nothing where cargo has built it.
    patch: Callable = lambda sources, n, setting: None
    arguments: Callable = lambda n, shares: [str(n)]
    options: dict = field(default_factory=dict)
    advised: Callable = lambda n: {}  # Where it is not the first of the options.
    has_shares: bool = False  # It counts shares of a board as well: settings race on a share of each board.


def nqueens(name, method, colour, *options):
    arguments = ["--threads", "1", "--quiet", *options]
    return Program(name, method, colour, arguments=lambda n, shares: ["count", str(n), *arguments])


def replace(sources, file, *pairs):
    """Edits a source in memory."""
    for old, new in pairs:
        if sources[file].count(old) != 1:
            sys.exit(f"{file} does not have '{old}' once: this script does not know the commit that it names")
        sources[file] = sources[file].replace(old, new)


def set_quadrants(sources, n, setting):
    cuts, least = setting["sieve"].split("/")
    fields = (
        ("int size = 18;", f"int size = {n};"),
        ("sieveCuts = 0,", f"sieveCuts = {cuts}, .matchGroupSize = {setting['group']},"),
        ("matchMinSize = 40,", f"matchMinSize = {least},"),
        ("bmiIntrin = false,", f"bmiIntrin = {setting['bmi2']},"),
        ("prefetch = false,", f"prefetch = {setting['prefetch']},"),
        ("QNoSymmetry, PackIter", f"{setting['symmetry']}, PackIter"),
    )
    replace(sources, "solcounter.h", *fields)
    for file, option in (("bmintrin.h", "bmi2"), ("prefetch.h", "prefetch")):
        if setting[option] == "true":
            replace(sources, file, ("//#include", "#include"))


def advised_for_quadrants(n):
    """The author's table, which has boards 16 to 22."""
    sieve, symmetry = ("0/40" if n < 20 else "3/60", "QNoSymmetry") if n < 22 else ("6/80", "QRowSymmetry")
    return {"sieve": sieve, "bmi2": "true" if n > 18 else "false", "prefetch": "true", "symmetry": symmetry}


CONSTELLATIONS = "10Bit_CUDA/004GCC_constellation.c"
PROGRAMS = [
    nqueens("nqueens", "colour decomposition", "#c44a00", "--engine", "colours"),
    nqueens("nqueens, AVX2", "colour decomposition", "#c44a00", "--engine", "colours", "--kernel", "avx2"),
    nqueens("nqueens, subtrees", "bitmask, eight symmetries", "#b05a8c", "--engine", "subtrees"),
    # Its README advises -O3 and the CPU by -march, with haswell as the example; BMI2 and prefetch by an include
    # each; and for the rest a table of settings for each board. Arguments: threads, shares, which of them.
    Program(
        *("N-Queens-Count-Sol", "quadrant join", "#0066a6", r"^Result: (\d+)$"),
        github="EvgenyKluev/N-Queens-Count-Sol",
        commit="580f44458d14a3352bf37ccd58d9f0b96de41c05",
        files=["*.h", "main.cpp"],
        compiler=[CXX, "-std=c++20", "-O3", "main.cpp"],
        patch=set_quadrants,
        arguments=lambda n, shares: ["1", str(shares), "0"],
        options={
            "sieve": ["0/40", "2/40", "3/60", "4/60", "6/80"],
            "flags": ["-march=native", "-march=haswell -mtune=haswell"],
            "bmi2": ["false", "true"],
            "prefetch": ["false", "true"],
            "symmetry": ["QNoSymmetry", "QRowSymmetry"],
            "group": ["8", "16"],
        },
        advised=advised_for_quadrants,
        has_shares=True,
    ),
    # Its comment advises gcc -O3. It has one thread. As shipped it counts 4 to 18, here the board of its argument.
    Program(
        *("004GCC_constellation", "border constellations", "#00805c", r"^ *{n}: *(\d+)"),
        github="suzukiiichiro/N-Queens",
        commit="029571ac14bb909594fc4f62f3e2fee7bdd3824a",
        files=[CONSTELLATIONS],
        compiler=[CC, "-O3", CONSTELLATIONS],
        patch=lambda sources, n, setting: replace(
            sources, CONSTELLATIONS, ("min=4;", "min=atoi(argv[1]);"), ("targetN=18;", "targetN=min;")
        ),
        options={"flags": ["", "-march=native"]},
    ),
    # Its README advises gcc -O2 for this CPU; without -fopenmp it has one thread.
    Program(
        *("m-queens", "bitmask, mirrored, look-ahead", "#b37a00", r"Solutions +(\d+)"),
        github="sudden6/m-queens",
        commit="93a53fe066766735a1251160d4dbb843a7b33203",
        files=["main.c"],
        compiler=[CC, "-std=c99", "-march=native", "-mtune=native", "main.c"],
        options={"flags": ["-O2", "-O3"]},
    ),
    Program(
        *("textbook C", "bitmask, mirrored", "#404040"),
        files=["scripts/textbook.c"],
        compiler=[CC, "-O3", "-march=native", "scripts/textbook.c"],
    ),
]


def output(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}")
    return done.stdout.strip()


@cache
def version(program):
    return output(program, "--version").split("\n")[0]


def succeeds(*command, **how):
    return subprocess.run(command, stdin=subprocess.DEVNULL, check=False, **how).returncode == 0


def read(file):
    try:
        lines = Path(file).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        sys.exit(f"{file}: {error.strerror}; scripts/compare-peers.sh --out FILE.csv writes such a file")
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def peak_kib(pid):
    """The peak of a running process. wait4 would count what this one had when it forked."""
    try:
        return int(re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text(encoding="utf-8"))[1])
    except (OSError, TypeError):
        return 0


def published():
    return {int(row["n"]): row["total"] for row in read("src/board/known-counts.csv")}


class Comparison:
    """All measurements, and the CSV that they go to."""

    def __init__(self, options):
        self.options = options
        if not succeeds("cargo", "build", "--release", "--quiet"):
            sys.exit("nqueens cannot be built: cargo build --release")
        cpu = json.loads(output(NQUEENS, "cpu", "--json"))
        self.kernel, self.cpu = cpu["kernel"], cpu["cpu"]
        self.programs = [it for it in PROGRAMS if self.kernel == "avx512" or "AVX2" not in it.name]
        self.cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        self.published = published()
        self.commit = output("git", "describe", "--always", "--dirty")
        self.here = {"date": time.strftime("%Y-%m-%d"), "machine": options.machine or self.cpu}
        self.left_out = {it.name: why for it in self.programs if it.commit and (why := self.lacks(it))}
        for name, why in self.left_out.items():
            print(f"left out: {name}: {why}", file=sys.stderr)
        self.latest, self.settings = {}, {}  # By program: the last board with its seconds; the fastest setting.
        machine = re.sub("[^a-z0-9]+", "-", self.here["machine"].lower()).strip("-")
        self.path = options.out or Path(f"benches/record/{self.here['date']}-{machine}-peers.csv")
        try:
            self.file = self.path.open("x", newline="", encoding="utf-8")
        except OSError as error:
            sys.exit(f"{self.path}: {error.strerror}; name another file by --out")
        self.rows = csv.DictWriter(self.file, COLUMNS.split(), lineterminator="\n")
        self.rows.writeheader()

    def repository(self, program):
        name = program.github.split("/")[1]
        return self.options.peers / name if self.options.peers else PEERS / f"{name}.git"

    def lacks(self, program):
        """Fetches the commit unless it is there, and tells what keeps it away."""
        repository, link = self.repository(program), f"https://github.com/{program.github}"
        has = ["git", "-C", repository, "cat-file", "-e", program.commit + "^{commit}"]
        if repository.is_dir() and succeeds(*has, stderr=subprocess.DEVNULL):
            return None
        if self.options.peers and repository.is_dir():
            sys.exit(f"{repository} lacks commit {program.commit}: git -C {repository} fetch {link}")
        if self.options.peers:
            return f"there is no {repository}: git clone {link} {repository}"
        print(f"fetching {link}", file=sys.stderr)
        output("git", "init", "--quiet", "--bare", repository)
        fetch = ["git", "-C", repository, "fetch", "--quiet", "--depth", "1", link, program.commit]
        is_here = succeeds(*fetch, env={**os.environ, "GIT_TERMINAL_PROMPT": "0"})
        return None if is_here else f"git cannot fetch {link}; --peers FOLDER takes a folder of clones"

    def pin(self, cores):
        if cores:
            os.sched_setaffinity(0, cores)

    def write(self, program, n, **fields):
        commit = program.commit[:7] or self.commit
        compiler = version(program.compiler[0] if program.compiler else "rustc")
        row = {**self.here, "program": program.name, "commit": commit, "compiler": compiler, "n": n, **fields}
        self.rows.writerow(row)
        self.file.flush()
        how = fields["build"] if fields.get("round") == RACE else ""
        print(n, program.name, fields.get("cpu_seconds", ""), fields.get("note", ""), how, sep="  ", file=sys.stderr)

    @cache
    def sources(self, program):
        """By their names: as committed, or ours as they are."""
        if not program.commit:
            return {file: Path(file).read_text(encoding="utf-8") for file in program.files}
        git = ["git", "-C", self.repository(program)]
        names = output(*git, "ls-tree", "-r", "--name-only", program.commit).splitlines()
        names = [name for name in names if any(fnmatch(name, pattern) for pattern in program.files)]
        return {name: output(*git, "show", f"{program.commit}:{name}") + "\n" for name in names}

    def build(self, program, n, setting):
        """The program, built for a board in a setting unless it was before, or None if that fails."""
        if not program.compiler:
            return NQUEENS
        sources = dict(self.sources(program))
        program.patch(sources, n, setting)
        command = [*program.compiler, *setting.get("flags", "").split(), "-w", "-o", "program"]
        # -march=native means something else on another CPU.
        identity = json.dumps([sources, command, version(command[0]), self.cpu])
        built = PEERS / "built" / hashlib.sha256(identity.encode()).hexdigest()[:16]
        if not built.exists():
            built.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=PEERS) as folder:
                for file, text in sources.items():
                    Path(folder, file).parent.mkdir(exist_ok=True)
                    Path(folder, file).write_text(text, encoding="utf-8")
                if not succeeds(*command, cwd=folder):
                    return None
                os.replace(Path(folder, "program"), built)
        return built

    def measure(self, program, n, setting, number, shares=1):
        """Counts a board or a share of it, writes a row, and returns the CPU seconds of the whole board."""
        how = [f"{name} {value}" for name, value in setting.items() if name != "flags"]
        if program.compiler:
            build = " ".join([*program.compiler[:-1], setting.get("flags", "")]).strip()
        else:
            build = "kernel " + ("avx2" if "AVX2" in program.name else self.kernel)
        fields = {"build": "; ".join([build, *how]), "round": number}
        file = self.build(program, n, setting)
        if not file:
            self.write(program, n, **fields, note="does not build here")
            return math.inf
        command = [file, *program.arguments(n, shares)]
        with tempfile.TemporaryFile("w+") as printed:
            begun = time.monotonic()
            self.pin(self.cores[-1:])  # Inherited. A preexec_fn would add milliseconds of Python to the count's.
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=printed)
            try:
                self.pin(self.cores)
                peak = ended = 0
                while not ended:
                    time.sleep(min(max((time.monotonic() - begun) / 50, 0.0005), 0.1))
                    peak = max(peak, peak_kib(process.pid))
                    ended, status, usage = os.wait4(process.pid, os.WNOHANG)
                process.returncode = os.waitstatus_to_exitcode(status)
            finally:
                if process.returncode is None:
                    process.kill()
            wall = time.monotonic() - begun
            printed.seek(0)
            found = re.search(program.answer.replace("{n}", str(n)), printed.read(), re.MULTILINE)
        if process.returncode or not found:
            self.write(program, n, **fields, note=f"no count: exit code {process.returncode}")
            return math.inf
        seconds = usage.ru_utime + usage.ru_stime
        fields |= {"cpu_seconds": f"{seconds:.4f}", "wall_seconds": f"{wall:.4f}", "peak_rss_kib": peak or None}
        note = "" if number != RACE else f"race on 1/{shares} of the board" if shares > 1 else "race"
        self.write(program, n, **fields, count=found[1], note=note)
        if shares == 1 and found[1] != self.published[n]:
            sys.exit(f"{program.name} counts {found[1]} at n = {n}; {self.published[n]} are published")
        return seconds * shares

    def race(self, program, n):
        """The fastest setting for a board, and its seconds: one option after the other, from what is advised."""
        setting = {option: values[0] for option, values in program.options.items()} | program.advised(n)
        shares = 4 ** max(n - FIRST_BOARD - 1, 0) if program.has_shares else 1
        times = {}

        def seconds(setting):
            key = tuple(setting.values())
            if key not in times:
                times[key] = min(self.measure(program, n, setting, RACE, shares) for _ in range(2))
            return times[key]

        for option, values in program.options.items():
            setting = min(({**setting, option: value} for value in values), key=seconds)
        return setting, seconds(setting)

    def prepare(self, program, n):
        """Chooses the setting for a board. False if the count is left out."""
        latest, seconds = self.latest[program.name]
        seconds *= GROWTH ** max(n - latest, 0)
        limit = self.options.seconds_limit
        # A share of the board says more than the board before.
        if program.has_shares and n != latest and seconds < GROWTH * limit:
            self.settings[program.name], seconds = self.race(program, n)
        if seconds <= limit:
            return True
        why = f"about {seconds:.3g} s, above the limit of {limit:g} s"
        if seconds == math.inf:
            why = f"no count at n = {latest}"
        self.write(program, n, note=f"left out: {why}")
        return False

    def all(self):
        for program in self.programs:
            if program.name not in self.left_out:
                setting, seconds = self.race(program, FIRST_BOARD)
                self.settings[program.name], self.latest[program.name] = setting, (FIRST_BOARD, seconds)
                if seconds == math.inf:
                    self.left_out[program.name] = "it does not count here"
        for n in self.options.boards:
            for program in self.programs:
                if program.name in self.left_out:
                    self.write(program, n, note=f"left out: {self.left_out[program.name]}")
            here = [it for it in self.programs if it.name not in self.left_out and self.prepare(it, n)]
            times = {program.name: [] for program in here}
            for number in range(1, self.options.rounds + 1):
                for program in here:
                    times[program.name].append(self.measure(program, n, self.settings[program.name], number))
            self.latest |= {name: (n, statistics.median(seconds)) for name, seconds in times.items() if n > FIRST_BOARD}


class Timings:
    """What a CSV says, for tables and pictures."""

    def __init__(self, file):
        rows = read(file)
        self.rows = [row for row in rows if row.get("cpu_seconds") and int(row["round"]) != RACE]
        if not self.rows:
            sys.exit(f"{file} has no times: scripts/compare-peers.sh --out FILE.csv makes one that has")
        self.boards = sorted({int(row["n"]) for row in self.rows})
        if wrong := [row for row in self.rows if row["count"] != published()[int(row["n"])]]:
            sys.exit(f"{file}: {wrong[0]['program']} counts {wrong[0]['count']} at n = {wrong[0]['n']}; that is wrong")
        times = {}
        for row in self.rows:
            times.setdefault((row["program"], int(row["n"])), []).append(float(row["cpu_seconds"]))
        self.medians = {key: statistics.median(seconds) for key, seconds in times.items()}
        names = {row["program"] for row in rows}
        self.programs = [program for program in PROGRAMS if program.name in names]
        self.absent = [it.name for it in self.programs if not any((it.name, n) in times for n in self.boards)]
        all_of = lambda column: ", ".join(sorted({row[column] for row in self.rows}))  # noqa: E731
        self.where, self.compilers = f"{all_of('machine')}, {all_of('date')}", all_of("compiler")
        runs = sorted({len(seconds) for seconds in times.values()})
        self.runs = "one run" if runs == [1] else f"medians of {runs[0]} runs"
        if runs[0] < runs[-1]:
            self.runs = f"medians of {runs[0]} to {runs[-1]} runs"

    def best_other(self, n):
        others = [self.medians[key] for it in PROGRAMS if "nqueens" not in it.name and (key := (it.name, n)) in self.medians]
        return min(others, default=None)

    def table(self):
        """Markdown."""
        print(f"| program | method | {' | '.join(f'n = {n}' for n in self.boards)} |\n|---|---|{'---|' * len(self.boards)}")
        for program in self.programs:
            title = f"[{program.name}](https://github.com/{program.github})" if program.github else program.name
            cells = [short(self.medians.get((program.name, n))) for n in self.boards]
            print(f"| {title} | {program.method} | {' | '.join(cells)} |")
        for program in (it for it in self.programs if it.name in ("nqueens", "nqueens, AVX2")):
            pairs = [(self.best_other(n), self.medians.get((program.name, n))) for n in self.boards]
            cells = [f"**{ratio(other, own)}**" if other and own else "" for other, own in pairs]
            if any(cells):
                print(f"| **{program.name}: times as fast as the best other program** | | {' | '.join(cells)} |")
        print(f"\nCPU seconds on one core, {self.runs}: {self.where}; {self.compilers}.", end="")
        print(f" Not there: {', '.join(self.absent)}." if self.absent else "")


def short(seconds):
    """Two or three digits."""
    return "" if seconds is None else f"{seconds:.0f}" if seconds >= 99.95 else f"{seconds:#.{2 + (seconds >= 1)}g}"


def ratio(other, own):
    return f"{other / own:.1f}" if other / own < 9.95 else f"{other / own:.0f}"


BIG = 'font-size="20" font-weight="bold"'
HALO = 'stroke="#fff" stroke-width="5" paint-order="stroke"'


def draw(timings):
    """The picture: seconds against n, with the name of each program at the end of its line."""
    width, left, right, top, bottom = 830, 66, 510, 78, 420
    low = math.floor(math.log10(min(timings.medians.values())))
    high = math.ceil(math.log10(max(timings.medians.values())))
    first, steps = timings.boards[0], max(timings.boards[-1] - timings.boards[0], 1)

    def x(n):
        return round(left + 26 + (right - left - 46) * (n - first) / steps, 1)

    def y(seconds):
        return round(bottom - (bottom - top) * (math.log10(seconds) - low) / max(high - low, 1), 1)

    body = []
    for n in timings.boards:
        body.append(f'<text x="{x(n)}" y="{bottom + 22}" text-anchor="middle">n = {n}</text>')
    for power in range(low, high + 1):
        at = y(10**power)
        body.append(f'<path d="M{left} {at}H{right}" stroke="#e2e2e2"/>')
        body.append(f'<text x="{left - 8}" y="{at + 5}" text-anchor="end">{10.0**power:g} s</text>')
    labels = []
    for program in reversed(timings.programs):
        points = [(n, timings.medians[program.name, n]) for n in timings.boards if (program.name, n) in timings.medians]
        if not points:
            continue
        is_first = program is timings.programs[0]
        stroke = f'stroke="{program.colour}" stroke-width="{4 if is_first else 2}"'
        dashes = ' stroke-dasharray="7 4"' if "AVX2" in program.name else ""
        path = "L".join(f"{x(n)} {y(seconds)}" for n, seconds in points)
        body.append(f'<path d="M{path}" fill="none" {stroke}{dashes}/>')
        for n, seconds in points:
            body.append(f'<circle cx="{x(n)}" cy="{y(seconds)}" r="{5 if is_first else 3.5}" fill="{program.colour}"/>')
        n, seconds = points[-1]
        until = "" if n == timings.boards[-1] else f" (n = {n})"
        labels.append([y(seconds), x(n), y(seconds), program, f"{short(seconds)} s{until}"])
    labels.sort(key=lambda label: label[0])
    for _ in range(99):  # Labels push each other apart.
        for above, below in zip(labels, labels[1:]):
            if (overlap := 21 - (below[0] - above[0])) > 0.01:
                above[0], below[0] = above[0] - overlap / 2, below[0] + overlap / 2
    for at, end, height, program, time_of in labels:
        weight = ' font-weight="bold"' if program is timings.programs[0] else ""
        path = f"M{end + 6} {height}L{right + 14} {at:.1f}h6"
        body.insert(0, f'<path d="{path}" fill="none" stroke="{program.colour}" stroke-dasharray="1 3"/>')
        text = f'<tspan fill="{program.colour}"{weight}>{program.name}</tspan> {time_of}'
        body.append(f'<text x="{right + 24}" y="{at + 5:.1f}" font-size="14"{weight}>{text}</text>')
    n, own = timings.boards[-1], timings.medians.get((PROGRAMS[0].name, timings.boards[-1]))
    if own and (other := timings.best_other(n)):
        arrow = f"M{x(n)} {y(other) + 7}V{y(own) - 9}m-4 -7l4 7l4 -7"
        body.append(f'<path d="{arrow}" fill="none" stroke="#202020" stroke-width="1.5"/>')
        middle = (y(other) + y(own)) / 2 + 7
        body.append(f'<text x="{x(n) - 8}" y="{middle:.1f}" {BIG} {HALO} text-anchor="end">{ratio(other, own)} x</text>')
    caption = f"One core of {timings.where}; {timings.runs}. A line ends where a count would take too long."
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom + 76}" width="{width}" height="{bottom + 76}">
<title>Counting n queens: CPU seconds of {len(labels)} programs</title>
<rect width="100%" height="100%" fill="#fff"/>
<g font-family="sans-serif" font-size="15" fill="#202020">
<text x="14" y="28" {BIG}>Counting n queens on one core</text>
<text x="14" y="52">CPU seconds, less is better. Every count agrees with the published one.</text>
{chr(10).join(body)}
<text x="14" y="{bottom + 50}" font-size="13">{escape(caption)}</text>
<text x="14" y="{bottom + 67}" font-size="13">{escape(timings.compilers)}</text>
</g>
</svg>
"""




def boards(text):
    """A list of boards and ranges: 16-18,20."""
    parts = [part.split("-") for part in text.split(",")]
    found = sorted({n for part in parts for n in range(int(part[0]), int(part[-1]) + 1)})
    if not found or not 8 <= found[0] <= found[-1] <= 27:
        raise argparse.ArgumentTypeError("boards are 8 to 27")
    return found


def main():
    parser = argparse.ArgumentParser(prog="scripts/compare-peers.sh", description=__doc__)
    parser.add_argument("--boards", type=boards, default="16-20", help="such as 16-18,20")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds-limit", type=float, default=900, help="of one count")
    parser.add_argument("--peers", type=Path, help="a folder of clones")
    parser.add_argument("--out", type=Path, help="a new CSV")
    parser.add_argument("--machine", help="its name in the CSV (default: that of its CPU)")
    parser.add_argument("--table", type=Path, help="a CSV, as Markdown")
    parser.add_argument("--draw", type=Path, help="a CSV, as a picture")
    parser.add_argument("--svg", type=Path, default="docs/pictures/peers.svg", help="the file of --draw")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds is 1 or more")
    if options.table:
        Timings(options.table).table()
    if options.draw:
        options.svg.write_text(draw(Timings(options.draw)), encoding="utf-8")
    if options.table or options.draw:
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    comparison = None
    try:
        comparison = Comparison(options)
        comparison.all()
    except KeyboardInterrupt:
        print(f"stopped; {comparison.path} has what was timed" if comparison else "stopped", file=sys.stderr)
        sys.exit(130)
    Timings(comparison.path).table()
    print(f"{comparison.path}: --table prints it again, --draw makes the picture", file=sys.stderr)


main()
