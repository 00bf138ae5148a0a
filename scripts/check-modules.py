#!/usr/bin/env python3
"""Prints circles of modules and arrows upwards between rooms; exits with 1 if it finds any.

A module is a file under src. It knows another if a `use` line outside of its tests names that file, or
something that the file defines. A module may know what stands below its room:

    cli > count > forecast, record, verify > plan, shard, ranges > engine > board, machine, error, cancel

Rooms on the same height may know each other, but no circle of files may arise. Names that a parent
re-exports are followed to the file that defines them.
"""

import re
import sys
from pathlib import Path

HEIGHTS = [
    ["error", "cancel", "board", "machine"],
    ["engine"],
    ["plan", "shard", "ranges"],
    ["forecast", "record", "verify", "observe", "serialize"],
    ["count"],
    ["cli", "main"],
]
HEIGHT = {room: height for height, rooms in enumerate(HEIGHTS) for room in rooms}


def modules(root):
    """The text of each module without its tests and comments, by path: `engine::colours::list`."""
    found = {}
    for file in sorted(root.rglob("*.rs")):
        parts = file.relative_to(root).with_suffix("").parts
        if "tests" in parts or parts == ("lib",):
            continue
        text = file.read_text().split("#[cfg(test)]\nmod tests", 1)[0]
        found["::".join(parts)] = re.sub(r"//.*", "", text)
    return found


def paths(tree):
    """The paths of a use tree: `a::{b, c::{self, d as e}}` gives a::b, a::c, a::c::d."""
    head, brace, rest = tree.partition("{")
    if not brace:
        return [re.sub(r"\s+as\s+\w+|::\*$|::self$", "", tree.strip())]
    depth, item, items = 0, "", []
    for char in rest[: rest.rindex("}")]:
        depth += (char == "{") - (char == "}")
        if char == "," and depth == 0:
            items.append(item)
            item = ""
        else:
            item += char
    items.append(item)
    inner = [path for item in items if item.strip() for path in paths(item.strip())]
    return [re.sub(r"::self$", "", head.strip() + path) for path in inner]


def uses(text):
    """The names that `use` items import, and whether each is passed on (`pub use`)."""
    for public, tree in re.findall(r"^(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);", text, re.M):
        for path in paths(" ".join(tree.split())):
            yield path, bool(public)


def absolute(path, module, known):
    """The path from the crate's root; None for other crates."""
    parts, own = path.split("::"), module.split("::")
    if parts[0] in ("crate", "nqueens"):
        return parts[1:]
    if parts[0] == "self":
        return own + parts[1:]
    if parts[0] == "super":
        while parts and parts[0] == "super":
            own, parts = own[:-1], parts[1:]
        return own + parts
    if "::".join([*own, parts[0]]) in known:
        return own + parts
    return None


def graph(found):
    exports = {}
    for module, text in found.items():
        for path, public in uses(text):
            target = absolute(path, module, found)
            if public and target:
                exports["::".join([module, target[-1]])] = "::".join(target)

    def module_of(parts):
        """The module that a path leads to, by way of what parents pass on."""
        for _ in range(9):
            for length in range(len(parts), 0, -1):
                name = "::".join(parts[:length])
                if name in exports and exports[name] != name:
                    parts = exports[name].split("::") + parts[length:]
                    break
                if name in found:
                    return name
            else:
                return None
        return None

    edges = {module: set() for module in found}
    for module, text in found.items():
        for path, public in uses(text):
            parts = absolute(path, module, found)
            target = module_of(parts) if parts else None
            # A parent that passes a name on does not know what it means.
            if target and target != module and not (public and target.startswith(module + "::")):
                edges[module].add(target)
    return edges


def circles(edges):
    """The strongly connected components with more than one module (Tarjan)."""
    order, low, stack, components = {}, {}, [], []

    def visit(module):
        order[module] = low[module] = len(order)
        stack.append(module)
        for target in sorted(edges[module]):
            if target not in order:
                visit(target)
            if target in stack:
                low[module] = min(low[module], low[target])
        if low[module] == order[module]:
            place = stack.index(module)
            components.append(stack[place:])
            del stack[place:]

    for module in sorted(edges):
        if module not in order:
            visit(module)
    return [sorted(component) for component in components if len(component) > 1]


def main():
    edges = graph(modules(Path(__file__).parent.parent / "src"))
    wrong = 0
    for component in circles(edges):
        inside = [(one, to) for one in component for to in sorted(edges[one]) if to in component]
        wrong += 1
        print(f"circle of {', '.join(component)}:")
        for one, to in inside:
            print(f"    {one} -> {to}")
    for one in sorted(edges):
        for to in sorted(edges[one]):
            rooms = one.split("::")[0], to.split("::")[0]
            if HEIGHT.get(rooms[0], 9) < HEIGHT.get(rooms[1], 9):
                wrong += 1
                print(f"arrow upwards: {one} -> {to}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
