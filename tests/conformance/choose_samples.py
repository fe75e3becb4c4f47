#!/usr/bin/env python3
"""Chooses the operator samples that stand in the repository from all that make_samples.py writes.

usage: tests/conformance/choose_samples.py FROM [TO]      TO: where their files go; without it their names are printed

The choice is stratified, asks nothing of Recut's results, and is the same for the same files:

1. Operators. Each ATen operator that a graph of FROM calls is in a chosen case; the rarest are looked for first.
2. Families, the files of engine/ir/operators and the namespaces of PyTorch: FAMILY cases of each that FROM has.
3. Dtypes of the sample: as many of each as SHARES says.
4. Shapes and graphs: KIND cases each of those in `kinds_of`.

Of the cases that would do, that one is taken of whose sampled operator the fewest are chosen, whose dtype is furthest
behind its share, and whose files are nearest to USUAL bytes: small enough for a repository, large enough that there is
something to compare.

What stands in tests/conformance/samples was chosen from the 6,507 cases that PyTorch 2.11 wrote. OpInfo has no operator
of the family `quantization`, so that no case has one.
"""
from __future__ import annotations

import collections
import dataclasses
import json
import pathlib
import re
import shutil
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
FAMILY = 15
NAMESPACES = ("linalg", "masked", "nn.functional", "signal.windows", "special")
KINDS = ("no elements", "no dimensions", "not contiguous", "several dtypes", "several shapes", "backward",
         "forward alone")
KIND = 25
USUAL = 4000
# Cases by dtype, at least. Recut interprets complex numbers and 8-bit reals, but has no code for them.
SHARES = {"float32": 80, "bfloat16": 30, "float16": 30, "float64": 25, "int64": 15, "bool": 15, "int32": 12, "int16": 8,
          "int8": 8, "uint8": 8, "complex64": 3, "float8_e4m3fn": 1, "float8_e5m2": 1}


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    operator: str  # that is sampled
    dtype: str
    bytes: int
    operators: frozenset[str]  # that the graph calls
    traits: frozenset[str]  # families, dtype and kinds


def families() -> dict[str, str]:
    """The family of each operator of the table, by the target that graphs have."""
    found = {}
    for path in sorted((TOP / "engine/ir/operators").glob("*.def")):
        for space, name in re.findall(r'RECUT_OPERATOR\(\w+, "(\w+)::([\w.]+)\(', path.read_text()):
            found[f"{space}.{name}" if "." in name else f"{space}.{name}.default"] = path.stem
    return found


def contiguous(value: dict) -> bool:
    step = 1
    for size, stride in zip(reversed(value["shape"]), reversed(value["stride"])):
        if size > 1 and stride != step:
            return False
        step *= size
    return True


def kinds_of(nodes: list[dict]) -> set[str]:
    inputs = [node["val"] for node in nodes if node["op"] == "placeholder"]
    kinds = {"backward" if any(node["name"].startswith("tangents_") for node in nodes) else "forward alone"}
    if any(0 in value["shape"] for value in inputs):
        kinds.add("no elements")
    elif any(not contiguous(value) for value in inputs):
        kinds.add("not contiguous")
    if any(not value["shape"] for value in inputs):
        kinds.add("no dimensions")
    if len({value["dtype"] for value in inputs}) > 1:
        kinds.add("several dtypes")
    if len({tuple(value["shape"]) for value in inputs}) > 1:
        kinds.add("several shapes")
    return kinds


def read_case(path: pathlib.Path, table: dict[str, str]) -> Case:
    nodes = json.loads(path.read_text())["joint"]
    operators = {node["target"] for node in nodes if node["op"] == "call_function"} - {"getitem"}
    own = {table[target] for target in operators if target in table}
    own |= {space for space in NAMESPACES if path.stem.startswith(f"{space}.")}
    operator, dtype, _ = path.stem.rsplit("-", 2)
    size = path.stat().st_size + path.with_suffix(".safetensors").stat().st_size
    return Case(path.stem, operator, dtype, size, frozenset(operators), frozenset({dtype} | own | kinds_of(nodes)))


class Choice:
    def __init__(self, cases: list[Case]) -> None:
        self.cases, self.chosen = cases, []
        self._count: collections.Counter[str] = collections.Counter()
        self._sampled: collections.Counter[str] = collections.Counter()
        self._covered: set[str] = set()

    def take(self, candidates: list[Case]) -> None:
        def order(case: Case) -> tuple:
            behind = self._count[case.dtype] / SHARES[case.dtype]
            empty = "no elements" in case.traits
            return self._sampled[case.operator], behind, empty, abs(case.bytes - USUAL), case.name

        case = min(candidates, key=order)
        self.chosen.append(case)
        self._count.update(case.traits)
        self._sampled[case.operator] += 1
        self._covered |= case.operators

    def cover_operators(self) -> None:
        having = collections.defaultdict(list)
        for case in self.cases:
            for operator in case.operators:
                having[operator].append(case)
        for operator in sorted(having, key=lambda name: (len(having[name]), name)):
            if operator not in self._covered:
                self.take(having[operator])

    def fill(self, trait: str, least: int) -> None:
        while self._count[trait] < least:
            left = [case for case in self.cases if trait in case.traits and case not in self.chosen]
            if not left:
                return
            self.take(left)


def choose(cases: list[Case], table: dict[str, str]) -> list[Case]:
    choice = Choice(cases)
    choice.cover_operators()
    for family in (*sorted(set(table.values())), *NAMESPACES):
        choice.fill(family, FAMILY)
    for dtype, share in SHARES.items():
        choice.fill(dtype, share)
    for kind in KINDS:
        choice.fill(kind, KIND)
    return sorted(choice.chosen, key=lambda case: case.name)


def copy(cases: list[Case], source: pathlib.Path, target: pathlib.Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for old in (*target.glob("*.json"), *target.glob("*.safetensors")):
        old.unlink()
    for case in cases:
        for ending in (".json", ".safetensors"):
            shutil.copyfile(source / (case.name + ending), target / (case.name + ending))


def main() -> int:
    if len(sys.argv) not in (2, 3):
        print(__doc__)
        return 2
    table = families()
    source = pathlib.Path(sys.argv[1])
    cases = [read_case(path, table) for path in sorted(source.glob("*.json"))]
    chosen = choose(cases, table)
    if len(sys.argv) == 2:
        print("\n".join(case.name for case in chosen))
        return 0
    copy(chosen, source, pathlib.Path(sys.argv[2]))
    count = collections.Counter(trait for case in chosen for trait in case.traits)
    print(f"{len(chosen)} of {len(cases)} cases, {sum(case.bytes for case in chosen)} bytes, "
          f"{len(frozenset().union(*(case.operators for case in chosen)))} operators")
    print(", ".join(f"{trait} {number}" for trait, number in count.most_common()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
