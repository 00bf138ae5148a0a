#!/usr/bin/env python3
"""Recounts random units of a count of nqueens, as a program of its own.

    scripts/check-unit.py JOURNAL [--units K] [--seed S] [--solutions]

It needs Python 3.6, and runs no code of nqueens. JOURNAL is a journal, or a folder of them. The script reads journals
as docs/FORMAT.md describes them, makes the units of any engine by the rules of that page and of docs/COLOURS.md, and
counts a unit by trying every square. A seed chooses the same units as in 'nqueens verify'. With engine colours, making
the units takes about 20 s and 530 MiB at n = 24, on one Zen 4 CPU.

A unit of engine colours is counted by a search of each colour, because queens of different colours share no diagonal.
The engine counts each colour by itself, too, so both rely on the split into colours, on the units, and on how often
these count each solution. With --solutions the script visits whole solutions, white and black queens together, and
needs only the units and how often they count each solution. Units of other engines are always counted in this way. On
one Zen 4 CPU a unit takes:

    n                           10     12     14     16     18     20   22
    search of each colour    <1 ms  <1 ms   2 ms  12 ms  70 ms  0.5 s  3 s
    whole solutions          <1 ms   2 ms  16 ms  0.2 s  2.6 s   56 s

If journals hold several counts, the script checks the first one that it finds, in the order of the names of the files.

Exit code 0: the recounted units have the recorded counts, and every line is sound. 1: a count differs, a unit has
different counts that no further line settles, a line is damaged, no unit is finished, or a file cannot be read. 2:
wrong usage.

Here rows and columns are numbered from 0.
"""

import argparse
import random
import re
import sys
import zlib
from collections import Counter
from itertools import combinations
from pathlib import Path


def placements(rows):
    """Counts the ways to place a queen in each of these rows so that none attacks another, by the set of their columns.

    A row comes with the set of columns that it allows. A set is a number whose bit c stands for column c.
    """
    found = Counter()

    def place(index, columns, sums, differences):
        if index == len(rows):
            found[columns] += 1
            return
        row, allowed = rows[index]
        # Along a rising diagonal row + column is the same everywhere, and along a falling one row - column is.
        free = allowed & ~(columns | sums >> row | differences >> (64 - row))
        while free:
            queen = free & -free
            free -= queen
            place(index + 1, columns | queen, sums | queen << row, differences | queen << (64 - row))

    place(0, 0, 0, 0)
    return found


def solutions_by_white_columns(rows):
    """Visits the solutions with a queen in each row of the board, and counts them by the columns of the white queens.

    A row, in order, is a pair: the set of columns that it allows, and whether its queen is white.
    """
    found = Counter()

    def place(row, columns, rising, falling, white_columns):
        if row == len(rows):
            found[white_columns] += 1
            return
        allowed, is_white = rows[row]
        # The sets `rising` and `falling` are the squares of this row on diagonals of the queens above.
        free = allowed & ~(columns | rising | falling)
        while free:
            queen = free & -free
            free -= queen
            white = white_columns | queen if is_white else white_columns
            place(row + 1, columns | queen, (rising | queen) >> 1, (falling | queen) << 1, white)

    place(0, 0, 0, 0, 0)
    return found


class PlainUnit:
    """The solutions whose queen of each row stands in one of the columns that the unit allows there, each once."""

    def __init__(self, allowed, weight):
        self.allowed, self.weight = allowed, weight

    def count(self, is_second, _visits_solutions):
        n = len(self.allowed)
        allowed = self.allowed
        if is_second:  # The image under the flip of the columns.
            allowed = [sum(1 << (n - 1 - c) for c in range(n) if columns >> c & 1) for columns in allowed]
        # It has the queens of all rows, so it visits whole solutions anyway.
        return sum(placements(list(enumerate(allowed))).values())


class ColoursUnit:
    """A unit of engine `colours`: the solutions whose white queens have these rows, with their multiplicities.

    A queen is white if its row and its column are both even or both odd. A set of rows or columns is a text with a
    digit for each number: "0011" is the set of the numbers 2 and 3.
    """

    def __init__(self, white_rows, weight):
        self.white_rows, self.weight = white_rows, weight

    def count(self, is_second, visits_solutions):
        n = len(self.white_rows)
        board = (1 << n) - 1
        even_columns = sum(1 << c for c in range(0, n, 2))
        rows = []
        for row, digit in enumerate(self.white_rows):
            is_white = digit == "1"
            columns = even_columns if (row % 2 == 0) == is_white else board - even_columns
            rows.append((columns, is_white))
        if is_second:  # The image under the flip of the rows.
            rows.reverse()
        if visits_solutions:
            found = solutions_by_white_columns(rows)
            return sum(ways * self.multiplicity(columns) for columns, ways in found.items())
        # Queens of different colours attack each other only along rows and columns.
        white = placements([(row, columns) for row, (columns, is_white) in enumerate(rows) if is_white])
        black = placements([(row, columns) for row, (columns, is_white) in enumerate(rows) if not is_white])
        total = 0
        for columns, ways in black.items():
            white_columns = board - columns
            if white_columns in white:
                total += ways * white[white_columns] * self.multiplicity(white_columns)
        return total

    def multiplicity(self, white_columns):
        """Returns how often the unit counts a solution whose white queens have these columns: rules 2 and 3."""
        n = len(self.white_rows)
        columns = f"{white_columns:0{n}b}"[::-1]
        factor = times(least(self.white_rows), least(columns))
        if n % 2 == 1:
            # Rule 2: the flip of the columns of an odd board maps the solutions of the unit to each other. They are
            # compared by their even columns.
            even = columns[::2]
            factor *= times(order(even[::-1]), order(even))
        return factor


def times(own, other):
    """Returns how often a solution is counted, if the smaller one of it and its image is counted for both."""
    return (own < other) + (own <= other)


def order(digits):
    """Returns what orders sets of even (or odd) numbers: first the digits without three at either end, then all."""
    return digits[3:-3], digits


def key(numbers):
    """Returns a, the rank of the even set and the rank of the odd set, which is reversed on even boards."""
    even, odd = numbers[::2], numbers[1::2]
    # A binary number begins with the digit of the highest number.
    return even.count("1"), order(even[::-1]), order(odd if len(numbers) % 2 == 0 else odd[::-1])


def images(numbers):
    """Returns the images of a set of rows, or of columns, under the two flips and the half-turn."""
    found = {numbers, numbers[::-1]}
    if len(numbers) % 2 == 0:  # Then a flip exchanges the colours.
        found |= {image.translate(str.maketrans("01", "10")) for image in found}
    return found


def least(numbers):
    """Returns the key of a set of rows or columns."""
    return min(map(key, images(numbers)))


def colours_units(n):
    """Returns the units of engine `colours`: rule 1 says which rows are one, and the weight is the number of images."""
    units = []
    # Rows with more even ones on an even board are not their own key, because a flip leaves fewer.
    most = (n + 1) // 2 if n % 2 == 1 else n // 4
    for a in range(n % 2, most + 1):
        for even in combinations(range(0, n, 2), a):
            for odd in combinations(range(1, n, 2), a - n % 2):
                white = {*even, *odd}
                rows = "".join("1" if row in white else "0" for row in range(n))
                if key(rows) == least(rows):
                    units.append((key(rows), ColoursUnit(rows, len(images(rows)))))

    def in_order(keyed_unit):
        a, even, odd = keyed_unit[0]
        return a, even[0], odd[0], even, odd

    return [unit for _, unit in sorted(units, key=in_order)]


def first_row_units(n):
    """Returns the units of the textbook engines: one for each column of the queen in row 0."""
    board = (1 << n) - 1
    return [PlainUnit([1 << column] + [board] * (n - 1), 1) for column in range(n)]


def subtrees_units(n, split_rows):
    """Returns the units of engine `subtrees`: all ways to place the queens of the first rows, case by case."""
    split_rows = min(split_rows, n - 3)
    units = []

    def cut(allowed, weight, queens):
        row = len(queens)
        free = [column for column in range(n) if allowed[row] >> column & 1
                if all(column != c and abs(column - c) != row - r for r, c in enumerate(queens))]
        if row == split_rows:
            if free:
                units.append(PlainUnit([1 << column for column in queens] + allowed[row:], weight))
            return
        for column in free:
            cut(allowed, weight, [*queens, column])

    for allowed, weight in cases(n):
        cut(allowed, weight, [])
    return units


def cases(n):
    """Yields the cases of engine `subtrees`: the columns that are allowed in each row, and the weight."""
    last = n - 1
    for second in range(2, n):
        # Queens in the corner and in column `second` of row 1. The queen of column 1 stands below row `second`.
        allowed = [set(range(n)) for _ in range(n)]
        allowed[0], allowed[1] = {0}, {second}
        for row in range(2, second + 1):
            allowed[row] -= {1}
        yield bits(allowed), 8
    for distance in range(1, n // 2):
        right, bottom, left = (distance, last), (last, last - distance), (last - distance, 0)
        for tied, weight in ((), 8), ((right,), 8), ((bottom,), 4), ((right, bottom), 8), ((right, bottom, left), 2):
            if any(attack(*pair) for pair in combinations(tied, 2)):
                continue
            allowed = []
            for row in range(n):
                allowed.append({column for column in range(n)
                                if all((row, column) == queen or not attack((row, column), queen) for queen in tied)})
            allowed[0] &= {distance}
            for row in {*range(1, n)} - {row for row, _ in tied}:
                near_corner = set()
                if row == last:
                    near_corner = {*range(distance + 1), *range(last - distance, n)}
                elif row <= distance or row >= last - distance:
                    near_corner = {0, last}
                allowed[row] -= near_corner
            yield bits(allowed), weight


def attack(one, other):
    """Returns whether two squares are in one row, column or diagonal."""
    rows, columns = abs(one[0] - other[0]), abs(one[1] - other[1])
    return rows == 0 or columns == 0 or rows == columns


def bits(sets):
    return [sum(1 << column for column in columns) for columns in sets]


def all_units(n, engine, split_rows):
    """Returns the units of a plan, in order."""
    if engine not in ("colours", "subtrees") and n >= 1:
        return first_row_units(n)
    if n < 4:  # Too small to be cut: the whole board is a unit.
        return [PlainUnit([(1 << n) - 1] * n, 1)]
    return colours_units(n) if engine == "colours" else subtrees_units(n, split_rows)


class Fault(Exception):
    """A reason to stop."""


# The plan text of a first line.
PLAN = (r"n=([12]?\d|3[0-2]) count=(first|second) "
        r"engine=(permutation|board-scan|column-array|bool-arrays|bitmask|subtrees|colours) "
        r"split-rows=(none|[1-4]) plan=[0-9a-f]{8} units=(\d+)")


class Record:
    """The finished units that journals hold, and what is wrong with their lines."""

    def __init__(self, path):
        lines = [line for file in files(path) for line in lines_of(file)]
        # A file may hold several first lines: users join the files of a folder, and even journals of several counts.
        plans = dict.fromkeys(plan_of_first_line(line) for _, line in lines)
        plans.pop(None, None)
        if not plans:
            raise Fault("no line 1 is intact, or there is no journal of format 2")
        self.plan, *others = plans
        n, which, engine, split_rows, units = re.fullmatch(PLAN, self.plan.decode()).groups()
        self.is_second = which == "second"
        self.units = all_units(int(n), engine, int(split_rows.replace("none", "0")))
        if len(self.units) != int(units):
            raise Fault(f"line 1 states {units} units, and there are {len(self.units)}")
        self.counts, self.faults, self.settled = {}, [], []
        disputed = set()
        done_lines = []
        for place, line in lines:
            if plan_of_first_line(line) is not None:
                continue
            if is_line_of(self.plan, line):
                text = line.decode(errors="replace")
                done_lines.append(text)
                disputed |= self.take(place, text)
            elif not any(is_line_of(other, line) for other in others):
                self.faults.append(f"{place} is damaged")
        for unit in sorted(disputed):
            self.settle(unit, done_lines)

    def take(self, place, line):
        """Takes the counts of a line, which has a right CRC. Returns the units that had another count."""
        if line.startswith("run "):
            return set()
        done = parse_done(line)
        if done is None or done[1] + len(done[2]) > len(self.units):
            self.faults.append(f"{place} does not have the form of format 2")
            return set()
        solutions, start, counts = done
        summed = sum(count * unit.weight for count, unit in zip(counts, self.units[start:]))
        if summed != solutions:
            self.faults.append(f"{place} states {solutions} solutions, and its counts give {summed}")
        return {unit for unit, count in enumerate(counts, start) if self.counts.setdefault(unit, count) != count}

    def settle(self, unit, done_lines):
        """Settles a unit with different counts: one of them needs two lines, and more than any other.

        Equal lines are one line, because it was copied.
        """
        votes = Counter()
        for line in set(done_lines):
            _, start, counts = parse_done(line) or (0, 0, [])
            if start <= unit < start + len(counts):
                votes[counts[unit - start]] += 1
        (count, most), (_, second) = votes.most_common(2)
        found = " and ".join(map(str, sorted(votes)))
        if most >= 2 and most > second:
            self.counts[unit] = count
            self.settled.append(f"unit {unit} was counted as {found}, and more lines have {count}")
        else:
            del self.counts[unit]
            self.faults.append(f"unit {unit} was counted as {found}")


def files(path):
    """Returns the journals in a folder, or the file itself."""
    path = Path(path)
    if not path.is_dir():
        return [path]
    return sorted(file for file in path.glob("[!.]*.journal") if file.is_file())


def lines_of(file):
    """Returns the lines of a file, each with its place. A last line without a line feed is no line."""
    lines = file.read_bytes().split(b"\n")[:-1]
    # bytes.removesuffix would need Python 3.9.
    lines = [line[:-1] if line.endswith(b"\r") else line for line in lines]
    return [(f"{file}: line {number}", line) for number, line in enumerate(lines, 1)]


def parse_done(line):
    """Returns the sum, the first unit and the counts of a line with finished units, or None if it has another form."""
    done = re.match(r"done units=(\d+)\.\.(\d+) solutions=(\d+) elapsed-ms=\d+ busy-us=\d+ counts=([\d,]+) ", line)
    if not done:
        return None
    start, end, solutions = map(int, done.groups()[:3])
    counts = [int(count) for count in done[4].split(",")]
    return (solutions, start, counts) if end - start == len(counts) else None


def plan_of_first_line(line):
    """Returns the plan text of a first line, or None if the line is no first line."""
    text, crc = text_and_crc(line)
    first = re.fullmatch(rb"nqueens-journal 2 version=[^ ]* (" + PLAN.encode() + rb")", text)
    return first[1] if first and crc == zlib.crc32(text) else None


def is_line_of(plan, line):
    """Returns whether the CRC of a line is right in journals of this plan."""
    text, crc = text_and_crc(line)
    return crc == zlib.crc32(text, zlib.crc32(plan))


def text_and_crc(line):
    """Divides a line before its CRC, which is None if it has no digits."""
    text, _, digits = line.rpartition(b" ")
    return text, int(digits, 16) if re.fullmatch(rb"[0-9a-f]{8}", digits) else None


def choose(units, number, seed):
    """Chooses a number of these units, as `nqueens verify` does: numbers of SplitMix64, and Floyd's sampling."""
    if number >= len(units):
        return units
    mask, state, chosen = (1 << 64) - 1, seed, set()
    for last in range(len(units) - number, len(units)):
        state = (state + 0x9E3779B97F4A7C15) & mask
        mixed = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & mask
        mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) & mask
        position = (mixed ^ mixed >> 31) * (last + 1) >> 64
        chosen.add(last if position in chosen else position)
    return [units[position] for position in sorted(chosen)]


def check(path, number, seed, visits_solutions):
    """Reads journals, recounts units, and prints what was found. Returns the exit code."""
    record = Record(path)
    finished = sorted(record.counts)
    total = sum(record.units[unit].weight * count for unit, count in record.counts.items())
    print("plan      ", record.plan.decode())
    print("finished  ", len(finished), "of", len(record.units), "units")
    print("total     " if len(finished) == len(record.units) else "sum so far", total, flush=True)
    for settled in record.settled:
        print("settled   ", settled)
    chosen = choose(finished, number, seed)
    faults = record.faults
    for unit in chosen:
        recounted = record.units[unit].count(record.is_second, visits_solutions)
        if recounted != record.counts[unit]:
            faults.append(f"unit {unit} has the count {record.counts[unit]}, and the recount finds {recounted}")
    how = ", solution by solution" if visits_solutions else ""
    print("recounted ", len(chosen), f"units{how}, chosen with seed", seed)
    if not finished:
        faults.append("nothing was checked, because no unit is finished")
    for fault in faults:
        print("fault     ", fault)
    if not faults:
        print("faults     none")
    return 1 if faults else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("journal", metavar="JOURNAL")
    parser.add_argument("--units", metavar="K", type=int, default=20, help="how many finished units to recount (20)")
    parser.add_argument("--seed", metavar="S", type=int, help="which units are chosen, below 2^64 (a random number)")
    parser.add_argument("--solutions", action="store_true", help="visit the solutions of a unit one by one")
    options = parser.parse_args()
    seed = random.SystemRandom().getrandbits(64) if options.seed is None else options.seed
    if options.units < 0 or not 0 <= seed < 1 << 64:
        parser.error("K is at least 0, and S from 0 to 2^64 - 1")
    try:
        return check(options.journal, options.units, seed, options.solutions)
    except (OSError, Fault) as error:
        print(f"check-unit.py: {options.journal}: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
