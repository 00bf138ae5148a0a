#!/usr/bin/env python3
"""Prints the public items of the library, which `cargo doc --lib --no-default-features` shows.

    scripts/public-items.py >docs/public-items.txt

The first line says how many there are. Each line after it is an item, or a trait that a type implements, by hand or
derived. The list leaves out the methods of such traits, the traits that the compiler implements by itself, and those
that are implemented for all types.

The script needs Python 3.9 and a Rust toolchain, stable or nightly. The items come from rustdoc's JSON. The signatures
come from the source as rustfmt writes it, because types change more often in the format of the JSON. Exit code 77: this
Rust writes a format that is not in FORMATS. Add it there if the script prints the same list as with an older Rust.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

FORMATS = range(53, 62)  # Rust 1.89 writes 53, 1.95 writes 57, and 1.99 writes 61.


def rustdoc_json():
    """Only rustdoc gets RUSTC_BOOTSTRAP, which allows unstable options. Cargo would build dependencies again for it."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", "target")).absolute()
    target.mkdir(parents=True, exist_ok=True)
    rustdoc = target / "rustdoc-with-unstable-options"
    rustdoc.write_text('#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec rustdoc "$@"\n')
    rustdoc.chmod(0o755)
    command = "cargo rustdoc --quiet --lib --no-default-features -- --cap-lints allow"
    command += " -Z unstable-options --output-format json"
    if subprocess.run(command.split(), env={**os.environ, "RUSTDOC": str(rustdoc)}).returncode != 0:
        sys.exit("public-items.py: rustdoc failed")
    return json.loads((target / "doc/nqueens.json").read_text())


def source_of(item):
    """The source of an item up to its body, in one line."""
    (first, begin), (last, end) = item["span"]["begin"], item["span"]["end"]
    lines = Path(item["span"]["filename"]).read_text().splitlines()[first - 1 : last]
    lines[-1] = lines[-1][: end - 1]
    lines[0] = lines[0][begin - 1 :]
    text = " ".join(line.strip() for line in lines).split(" {")[0].rstrip(",;")
    text = text.replace("( ", "(").replace(", )", ")")
    # Whether a function changes its own copy of an argument is no part of its signature.
    return re.sub(r"^pub |(?<=\()mut |(?<=, )mut ", "", text)


def line_of(kind, item, path):
    if kind in ("module", "variant"):  # their source is all that is in them
        return f"{kind} {path}"
    source = source_of(item)
    if kind == "struct_field":
        return f"field {path}: {source.split(': ', 1)[-1]}"
    if kind == "function" and not item["inner"][kind]["has_body"]:
        source = f"required {source}"
    if kind in ("constant", "assoc_const", "static"):
        source = source.split(" = ")[0]
    if kind == "struct" and "tuple" in item["inner"][kind]["kind"]:
        source = source.split("(")[0]  # its fields have lines of their own
    before, name, after = source.partition(f" {item['name']}")
    return f"{before} {path}{after}" if name else f"{kind} {path}"  # a macro can make an item without writing its name


def parts_of(content):
    """The numbers of the items in a module, type, trait or variant, apart from impl blocks."""
    shape = content.get("kind", {"": content})  # structs and variants have a kind
    if isinstance(shape, str):  # without fields
        return []
    (parts,) = shape.values()
    if isinstance(parts, dict):
        parts = next(parts[name] for name in ("items", "variants", "fields") if name in parts)
    return [part for part in parts if part is not None]  # a private field of a tuple struct is None


class Items:
    def __init__(self, crate):
        self.index = crate["index"]
        self.paths = {}
        self.kinds = Counter()
        self.lines = []
        self.add(crate["root"])
        for item in self.index.values():
            if item["crate_id"] == 0 and "impl" in item["inner"]:
                self.add_impl(item, item["inner"]["impl"])

    def add(self, id, parent="", new_name=None):
        """Adds an item and those within it. If it is exported again, that may give it a new name."""
        item = self.index[str(id)]
        kind, content = next(iter(item["inner"].items()))
        if kind == "use":
            self.add_use(content, parent)
            return
        path = f"{parent}::{new_name or item['name']}".removeprefix("::")
        line = line_of(kind, item, path)
        if "non_exhaustive" in item["attrs"] or "#[non_exhaustive]" in item["attrs"]:
            line = f"#[non_exhaustive] {line}"
        self.lines.append((path, 0, line))
        if id not in self.paths:
            self.paths[id] = path
            self.kinds[kind] += 1
        if kind in ("module", "struct", "union", "enum", "variant", "trait"):
            for part in parts_of(content):
                self.add(part, path)

    def add_use(self, use, parent):
        """Adds what is exported again under a parent."""
        source = self.index.get(str(use["id"]))
        if source is None:
            self.lines.append((parent, 2, f"use {use['source']} in {parent}"))  # from another crate
        elif use["is_glob"]:
            for part in parts_of(*source["inner"].values()):
                self.add(part, parent)
        else:
            self.add(use["id"], parent, use["name"])

    def add_impl(self, item, block):
        """Adds the items of an impl block, or a line if it implements a trait."""
        id = block["for"].get("resolved_path", {}).get("id")
        owner = self.paths.get(id)
        if str(id) in self.index and not owner:  # a private type
            return
        if not block["trait"]:
            for part in block["items"]:
                self.add(part, owner)
            return
        trait = block["trait"]["path"].split("::")[-1]
        # Deriving PartialEq also implements a trait that only the compiler uses.
        if block["is_synthetic"] or block["blanket_impl"] or trait == "StructuralPartialEq":
            return
        source = source_of(item)
        before, _, implementor = source.rpartition(" for ")
        if not source.startswith(("impl", "unsafe impl")):  # the name of a derived trait, or the call of a macro
            arguments = re.findall(r'"path": "([^"]*)', json.dumps(block["trait"]["args"]))
            before = f"impl {trait}" + f"<{', '.join(arguments)}>" * bool(arguments)
            implementor = owner or source
        if owner:
            implementor = re.sub(r"^[\w:]+", owner, implementor)
        before = re.sub(rf"(\w+::)+{trait}\b", trait, before)
        items = [self.index[str(id)] for id in block["items"]]
        types = [source_of(item) for item in items if "assoc_type" in item["inner"]]
        body = f" {{ {'; '.join(types)} }}" if types else ""
        self.lines.append((owner or "~", 1, f"{before} for {implementor}{body}"))


def main():
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    os.chdir(Path(__file__).resolve().parent.parent)
    crate = rustdoc_json()
    if crate["format_version"] not in FORMATS:
        print(f"public-items.py does not know format {crate['format_version']} of rustdoc's JSON", file=sys.stderr)
        sys.exit(77)
    items = Items(crate)
    kinds = items.kinds
    types = sum(kinds[kind] for kind in ("struct", "enum", "union", "type_alias"))
    print(f"# types: {types}, traits: {kinds['trait']}, functions and methods: {kinds['function']}", end=", ")
    print(f"fields: {kinds['struct_field']}, variants: {kinds['variant']}")
    print("\n".join(line for _, _, line in sorted(items.lines)))


main()
