#!/usr/bin/env python3
"""Prints circles of modules and arrows upwards between rooms; exits with 1 if it finds any.

A module is a file under src. It knows another if a `use` line outside of its tests names that file, or
something that the file defines. A module may know its own room (its first folder), rooms on the same line of
ROOMS, and those below, but no circle of files may arise. Names that a parent re-exports are followed to the
file that defines them.
"""

import argparse
import re
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOMS = """
main
cli
verify count
record forecast
shard plan
engine
board machine
done cancel error
version
"""
DEPTH = {room: depth for depth, line in enumerate(ROOMS.splitlines()) for room in line.split()}


def modules(root):
    """The text of each module without its tests and comments, by path: `engine::colours::list`."""
    found = {}
    for file in sorted(root.rglob("*.rs")):
        parts = file.relative_to(root).with_suffix("").parts
        if "tests" not in parts and parts != ("lib",):
            text = file.read_text(encoding="utf-8").split("#[cfg(test)]\nmod tests", 1)[0]
            found["::".join(parts)] = re.sub(r"//.*", "", text)
    return found


def paths(tree):
    """The paths of a use tree: `a::{b, c::{self, d as e}}` gives a::b, a::c, a::c::d."""
    while "{" in tree:  # The innermost braces first.
        tree = re.sub(
            r"([\w:]*)\{([^{}]*)\}",
            lambda group: ",".join(group[1] + item.strip() for item in group[2].split(",") if item.strip()),
            tree,
        )
    return [re.sub(r"\s+as\s+\w+$|::\*$|::self$", "", path.strip()) for path in tree.split(",")]


def uses(module, text, known):
    """The paths from the crate's root that `use` items import, and whether each is passed on (`pub use`)."""
    for public, tree in re.findall(r"^(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);", text, re.MULTILINE):
        for path in paths(" ".join(tree.split())):
            parts, own = path.split("::"), module.split("::")
            if parts[0] in ("crate", "nqueens"):
                own = []
            elif parts[0] not in ("self", "super"):
                if f"{module}::{parts[0]}" not in known:
                    continue  # Another crate.
                parts.insert(0, "self")
            while parts and parts[0] in ("crate", "nqueens", "self", "super"):
                if parts.pop(0) == "super":
                    own.pop()
            yield own + parts, bool(public)


def graph(found):
    """What each module knows."""
    imports = {module: list(uses(module, text, found)) for module, text in found.items()}
    exports = {}
    for module, paths_of_it in imports.items():
        exports |= {f"{module}::{path[-1]}": path for path, public in paths_of_it if public and path}

    def module_of(path):
        """The module that a path leads to, by way of what parents pass on."""
        for length in range(len(path), 0, -1):
            name = "::".join(path[:length])
            if name in exports and exports[name] != path[:length]:
                return module_of(exports[name] + path[length:])
            if name in found:
                return name
        return None

    edges = {}
    for module, paths_of_it in imports.items():
        known = {(module_of(path), public) for path, public in paths_of_it} - {(None, True), (None, False)}
        # A parent that passes a name on does not know what it means.
        edges[module] = {to for to, public in known if not (public and to.startswith(module + "::"))} - {module}
    return edges


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    edges = graph(modules(Path(__file__).resolve().parent.parent / "src"))
    arrows = [(one, to) for one in sorted(edges) for to in sorted(edges[one])]
    if missing := {module.split("::")[0] for module in edges} - DEPTH.keys():
        sys.exit(f"check-modules.py: ROOMS lacks {', '.join(missing)}")
    depth = {module: DEPTH[module.split("::")[0]] for module in edges}
    upwards = [f"arrow upwards: {one} -> {to}" for one, to in arrows if depth[one] > depth[to]]
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        upwards.append(f"circle: {' <- '.join(error.args[1])}")
    for line in upwards:
        print(line)
    return 1 if upwards else 0


if __name__ == "__main__":
    sys.exit(main())
