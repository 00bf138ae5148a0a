#!/usr/bin/env python3
"""Prints links of documents that lead nowhere; exits with 1 if it finds any.

Links to files and headings in all Markdown files below the folder count, and the names of files below scripts/,
docs/, benches/ and Containerfile, except in CHANGELOG.md, which names what is gone. Web addresses are not opened.
"""

import argparse
import re
import sys
from pathlib import Path

LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"")
NAMED_FILE = re.compile(r"(?<![\w./-])(?:scripts|docs|benches)/[\w./-]*\w|\bContainerfile\b")
FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)


def anchors(document):
    """The names that a forge gives the headings of a document."""
    headings = re.findall(r"^#+ +(.*)$", FENCE.sub("", document.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def dead(document, root):
    """What a document links or names, and what does not exist."""
    text = document.read_text()
    for link in LINK.finditer(FENCE.sub("", text)):
        target = link[1] or link[2]
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = document.parent / path if path else document
        if not file.exists() or (anchor and anchor not in anchors(file)):
            yield target
    if document.name != "CHANGELOG.md":
        for name in NAMED_FILE.findall(text):
            if not (root / name).exists():
                yield name


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent)
    root = parser.parse_args().folder
    documents = list(root.glob("*.md"))
    for folder in ("docs", "scripts", "benches"):
        documents += (root / folder).rglob("*.md")
    if not documents:
        sys.exit(f"check-links.py: no Markdown file in {root}")
    found = [f"{document.relative_to(root)}: {name}" for document in sorted(documents) for name in dead(document, root)]
    for line in found:
        print(line)
    print(f"{len(documents)} documents, {len(found)} links lead nowhere")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
