#!/usr/bin/env python3
"""Records a command in a terminal of its own, and draws the recording as a moving picture.

    scripts/recording.py                    records `nqueens count 20` and draws it
    scripts/recording.py NAME COMMAND ...   another command, as docs/pictures/NAME.cast and .svg
    scripts/recording.py NAME               draws docs/pictures/NAME.cast again

The recording is an asciicast (version 2), which asciinema plays. The picture is one SVG file
without scripts, which browsers show as an image; readers who prefer no motion see the last moment.

Needs the Python package pyte, a terminal emulator, to know what the screen shows.
"""

import codecs
import fcntl
import html
import json
import os
import pty
import shlex
import struct
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pyte

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs/pictures"
COLUMNS, LINES = 80, 12
# Seconds that the command line takes to type, and that the last screen stays.
TYPING, REST = 1.2, 4.0
# Changes are drawn once in this time, and the last one before a pause.
MOMENT = 0.2
# The size of a character in the picture.
WIDTH, HEIGHT = 8.4, 18
MARGIN = 14

COLOURS = {
    "default": "#d6deeb",
    "red": "#ef5350",
    "green": "#22da6e",
    "brown": "#c5e478",
    "blue": "#82aaff",
    "magenta": "#c792ea",
    "cyan": "#21c7a8",
    "black": "#637777",
    "white": "#ffffff",
}

Event = tuple[float, str]
# A row of the screen, a text with its colours, and from when to when it stands there.
Piece = tuple[int, tuple[tuple[str, str], ...], float, float]


def record(command: list[str]) -> list[Event]:
    """Run a command in a terminal, and note what it writes, and when."""
    line = shlex.join(command)
    events = [(0.0, "$ ")]
    events += [(TYPING * (at + 1) / len(line), letter) for at, letter in enumerate(line)]
    events.append((TYPING + 0.2, "\r\n"))
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(ROOT)
        path = f"{ROOT / 'target/release'}:{os.environ['PATH']}"
        os.execvpe(command[0], command, {**os.environ, "TERM": "xterm-256color", "PATH": path})
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    begun = time.monotonic() - TYPING - 0.2
    # A character may come in two parts.
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    while True:
        try:
            output = os.read(terminal, 65536)
        except OSError:  # the terminal is gone with its last process
            break
        if not output:
            break
        events.append((time.monotonic() - begun, decoder.decode(output)))
    _, status = os.waitpid(child, 0)
    if code := os.waitstatus_to_exitcode(status):
        sys.exit(f"recording.py: {line}: exit code {code}: {events[-1][1]}")
    events.append((time.monotonic() - begun, "$ "))
    return events


def save(path: Path, command: list[str], events: list[Event]) -> None:
    """Write an asciicast."""
    header = {"version": 2, "width": COLUMNS, "height": LINES, "command": shlex.join(command)}
    lines = [json.dumps(header)]
    lines += [json.dumps([round(at, 3), "o", text]) for at, text in events]
    path.write_text("\n".join(lines) + "\n")


def load(path: Path) -> list[Event]:
    """Read an asciicast."""
    _, *lines = path.read_text().splitlines()
    return [(at, text) for at, kind, text in map(json.loads, lines) if kind == "o"]


def rows(screen: pyte.Screen) -> list[tuple[tuple[str, str], ...]]:
    """Cut each row of the screen into texts of one colour."""
    result = []
    for y in range(screen.lines):
        row = screen.buffer[y]
        texts: list[tuple[str, str]] = []
        width = len(screen.display[y].rstrip())
        for x in range(width):
            colour = row[x].fg if row[x].fg in COLOURS else "default"
            if texts and texts[-1][0] == colour:
                texts[-1] = (colour, texts[-1][1] + row[x].data)
            else:
                texts.append((colour, row[x].data))
        result.append(tuple(texts))
    return result


def pieces(events: list[Event], end: float) -> Iterator[Piece]:
    """Follow what each row of the screen shows."""
    screen = pyte.Screen(COLUMNS, LINES)
    stream = pyte.Stream(screen)
    shown: list[tuple[tuple[str, str], ...]] = [()] * LINES
    since = [0.0] * LINES
    drawn = 0.0
    for place, (at, text) in enumerate(events):
        stream.feed(text)
        if place + 1 < len(events) and events[place + 1][0] < drawn + MOMENT:
            continue
        drawn = at
        for y, row in enumerate(rows(screen)):
            if row != shown[y]:
                if shown[y]:
                    yield y, shown[y], since[y], at
                shown[y], since[y] = row, at
    for y, row in enumerate(shown):
        if row:
            yield y, row, since[y], end


def draw(events: list[Event]) -> str:
    """Make the picture: every text that ever stood in a row, each visible at its time."""
    end = events[-1][0] + REST
    width, height = COLUMNS * WIDTH + 2 * MARGIN, LINES * HEIGHT + 2 * MARGIN
    styles, texts = [], []
    for number, (y, row, since, until) in enumerate(pieces(events, end)):
        begin, stop = (f"{100 * at / end:.3f}%" for at in (since, until))
        if until < end:
            styles.append(f"@keyframes k{number}{{0%,{stop}{{opacity:0}}{begin}{{opacity:1}}}}")
        else:
            styles.append(f"@keyframes k{number}{{0%{{opacity:0}}{begin},to{{opacity:1}}}}")
        styles.append(f"#t{number}{{animation-name:k{number};opacity:{int(until >= end)}}}")
        spans = "".join(
            f'<tspan fill="{COLOURS[colour]}">{html.escape(text)}</tspan>' for colour, text in row
        )
        texts.append(
            f'<text id="t{number}" x="{MARGIN}" y="{MARGIN + (y + 0.75) * HEIGHT:g}">{spans}</text>'
        )
    motion = f"text{{animation:{end:.2f}s step-end infinite}}"
    font = 'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" {font}>',
            f"<style>text{{white-space:pre}}{''.join(styles)}",
            f"{motion}@media(prefers-reduced-motion:reduce){{text{{animation:none!important}}}}</style>",
            f'<rect width="{width:g}" height="{height:g}" rx="8" fill="#011627"/>',
            *texts,
            "</svg>\n",
        ]
    )


def main(arguments: list[str]) -> None:
    name, *command = arguments or ["count", "nqueens", "count", "20"]
    cast = PICTURES / f"{name}.cast"
    if command:
        save(cast, command, record(command))
    (PICTURES / f"{name}.svg").write_text(draw(load(cast)))


if __name__ == "__main__":
    main(sys.argv[1:])
