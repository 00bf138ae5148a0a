#!/usr/bin/env python3
"""Draws the pictures that explain the two engines, and that of several threads.

    scripts/pictures.py FOLDER        (default: docs/pictures)

Needs only the standard library. The colours differ in grey as well, and every picture has a white
background for dark pages.
"""

import csv
import math
import sys
from pathlib import Path

INK, PALE, WEST, EAST, HATCH = "#202020", "#f2f2f2", "#dbe7f3", "#f6e3c5", "#b0b8c0"
QUEEN = "M22 74 14 36 34 54 37 24 50 50 63 24 66 54 86 36 78 74ZM22 78H78V88H22Z"
SQUARE = 22


def svg(width: float, height: float, title: str, body: list[str]) -> str:
    """Make a picture with a title and a white background."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}"'
            f' width="{width:g}" height="{height:g}" font-family="sans-serif" fill="{INK}">',
            f"<title>{title}</title>",
            f'<rect width="{width:g}" height="{height:g}" fill="#ffffff"/>',
            f'<defs><symbol id="queen" viewBox="0 0 100 100"><path d="{QUEEN}"/></symbol></defs>',
            *body,
            "</svg>\n",
        ]
    )


def text(
    x: float, y: float, words: str, size: float = 13, anchor: str = "middle", style: str = ""
) -> str:
    """Write a line of text."""
    place = f'x="{x:g}" y="{y:g}" font-size="{size:g}" text-anchor="{anchor}"'
    return f"<text {place}{style}>{words}</text>"


def square(x: float, y: float, fill: str) -> str:
    """Draw a square of a board, with its outline."""
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{SQUARE}" height="{SQUARE}" fill="{fill}"'
        ' stroke="#ffffff" stroke-width="1.5"/>'
    )


def queen(x: float, y: float) -> str:
    """Put a queen on the square at this place."""
    return f'<use href="#queen" x="{x:g}" y="{y:g}" width="{SQUARE}" height="{SQUARE}"/>'


def attacked(queens: list[int], row: int, column: int) -> bool:
    """Whether queens in the first rows attack a square further down."""
    return any(column == c or abs(column - c) == row - r for r, c in enumerate(queens))


def arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    """Draw a thin arrow to the right."""
    return (
        f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}'
        f'M{x2 - 7:g} {y2 - 4:g}L{x2:g} {y2:g}L{x2 - 7:g} {y2 + 4:g}"'
        f' fill="none" stroke="{INK}" stroke-width="1.5"/>'
    )


def subtrees() -> str:
    """Show prefixes of two rows as units, threads that steal them, and their sum."""
    n, body = 8, []
    prefixes = [[0, 2], [1, 4], [3, 7]]
    side = n * SQUARE
    for place, prefix in enumerate(prefixes):
        left, top = 20 + place * (side + 30), 34
        body.append(text(left + side / 2, 22, f"unit {('0', '12', '27')[place]}"))
        for row in range(n):
            for column in range(n):
                blocked = row >= len(prefix) and attacked(prefix, row, column)
                fill = EAST if row < len(prefix) else HATCH if blocked else PALE
                body.append(square(left + column * SQUARE, top + row * SQUARE, fill))
        for row, column in enumerate(prefix):
            body.append(queen(left + column * SQUARE, top + row * SQUARE))
    right = 20 + 3 * (side + 30)
    middle = 34 + side / 2
    body.append(arrow(right - 14, middle, right + 22, middle))
    for thread in range(4):
        top = middle - 62 + thread * 32
        body.append(
            f'<rect x="{right + 30}" y="{top:g}" width="92" height="24" rx="4"'
            f' fill="{WEST}" stroke="{INK}"/>'
        )
        body.append(text(right + 76, top + 17, f"thread {thread}"))
    body.append(arrow(right + 130, middle, right + 164, middle))
    body.append(text(right + 226, middle - 6, "sum of", 14))
    body.append(text(right + 226, middle + 14, "weight x count", 14))
    foot = 34 + side + 24
    body.append(text(20, foot, "prefix: one legal way to fill the first rows", anchor="start"))
    body.append(
        text(
            20,
            foot + 20,
            "grey: attacked; pale: where the search below continues",
            anchor="start",
        )
    )
    return svg(right + 300, foot + 34, "Engine subtrees: prefixes, threads, a sum", body)


def halves() -> str:
    """Cut a solution down the middle, and show the two words that its halves are."""
    columns = [3, 6, 2, 7, 1, 4, 0, 5]
    n, half, left, top, gap = 8, 4, 60, 44, 26
    side, body = n * SQUARE, []
    xs = [left + column * SQUARE + (gap if column >= half else 0) for column in range(n)]
    body.append(text(left + half * SQUARE / 2, 28, "west half"))
    body.append(text(left + gap + half * SQUARE * 1.5, 28, "east half"))
    for row, at in enumerate(columns):
        y = top + row * SQUARE
        is_east = at >= half
        mark = "E" if is_east else ""
        body.append(text(left - 14, y + 16, mark, 13, style=' font-weight="bold"'))
        for column in range(n):
            own = (column >= half) == is_east
            body.append(square(xs[column], y, (EAST if is_east else WEST) if own else PALE))
        body.append(queen(xs[at], y))
    cut = left + half * SQUARE + gap / 2
    body.append(
        f'<path d="M{cut:g} {top - 6}V{top + side + 6:g}" stroke="{INK}" stroke-width="1.5"'
        ' stroke-dasharray="5 4"/>'
    )
    # The diagonals of each half that cross the other one, as bits.
    west = {row + column for row, column in enumerate(columns) if column < half}
    west |= {100 + row - column for row, column in enumerate(columns) if column < half}
    east = {row + column for row, column in enumerate(columns) if column >= half}
    east |= {100 + row - column for row, column in enumerate(columns) if column >= half}
    rising, falling = range(2, 13), range(-5, 6)
    bits = list(rising) + [100 + diagonal for diagonal in falling]
    x0, bit = left + side + gap + 60, 15
    for line, (name, word, fill) in enumerate(
        (("west", west, WEST), ("east", east, EAST), ("AND", west & east, PALE))
    ):
        y = top + 30 + line * 44
        body.append(text(x0 - 10, y + 12, name, 13, "end"))
        for place, diagonal in enumerate(bits):
            x = x0 + place * bit + (8 if place >= len(rising) else 0)
            is_set = diagonal in word
            body.append(
                f'<rect x="{x:g}" y="{y:g}" width="{bit - 2}" height="16"'
                f' fill="{INK if is_set else fill}"'
                f' stroke="{INK}" stroke-width="0.6"/>'
            )
    width = len(bits) * bit + 8
    body.append(text(x0 + len(rising) * bit / 2, top + 18, "rising diagonals", 12))
    body.append(text(x0 + len(rising) * bit * 1.5 + 8, top + 18, "falling diagonals", 12))
    body.append(
        text(
            x0,
            top + 30 + 3 * 44,
            "no bit in common: the halves fit",
            13,
            "start",
        )
    )
    foot = top + side + 26
    body.append(
        text(
            left - 20,
            foot,
            "E: the rows with their queen in the east; a unit is a choice of E",
            13,
            "start",
        )
    )
    return svg(
        x0 + width + 30, foot + 14, "Engine halves: half-boards without a common diagonal", body
    )


def threads(file: Path) -> str:
    """Draw how many times as fast counts are on several threads, by the least time of each."""
    least: dict[str, dict[int, float]] = {}
    with file.open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            times, count = least.setdefault(row["command"], {}), int(row["threads"])
            times[count] = min(float(row["wall_seconds"]), times.get(count, math.inf))
            machine = f"{row['machine']}, {row['date']}"
    left, top, step = 60, 50, 56
    across = lambda count: left + step * math.log2(count)
    down = lambda factor: top + step * (4 - math.log2(factor))
    body = [
        f'<path d="M{across(1)} {down(1)}L{across(16)} {down(16)}H{across(64)}" fill="none"'
        f' stroke="{HATCH}" stroke-width="1.5"/>',
        text(across(64), down(16) - 8, "all that 16 cores can do", 12, "end"),
        text(across(8), down(1) + 44, f"threads ({machine})", 12),
        text(left - 12, top - 22, "times as fast", 12, "start"),
    ]
    for power in range(7):
        body.append(text(across(2**power), down(1) + 22, str(2**power), 12))
        if power < 5:
            body.append(text(left - 14, down(2**power) + 4, str(2**power), 12, "end"))
    for (command, times), colour in zip(least.items(), ("#c44a00", "#0066a6")):
        points = [(across(count), down(times[1] / times[count])) for count in sorted(times)]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        body.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        body += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>' for x, y in points]
        place = down(1) - 20 * (len(least) - list(least).index(command))
        style = f' fill="{colour}"'
        body.append(text(across(64), place, f"nqueens {command}", 12, "end", style))
    return svg(left + 6 * step + 30, down(1) + 58, "Counts on several threads", body)


def main() -> None:
    """Write all pictures."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures")
    folder.mkdir(parents=True, exist_ok=True)
    record = Path(__file__).parent.parent / "benches/record"
    timed = sorted(record.glob("*-threads.csv"))[-1]
    pictures = (("subtrees", subtrees()), ("halves", halves()), ("threads", threads(timed)))
    for name, picture in pictures:
        (folder / f"{name}.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
