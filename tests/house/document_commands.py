#!/usr/bin/env python3
"""Checks the commands of the documents that command_examples.py doesn't run as they stand.

usage: document_commands.py BUILD [ROOT]

BUILD is the folder of preset release. A command is a line of a fence or a piece of code that begins with a program of
BUILD, a script of the repository, ctest, cmake or ninja; parts joined by && count each.
  recut with a placeholder   runs with a file of the repository in its place (FILES)
  recut for a GPU            runs; without a GPU it may only fail because the driver is missing
  recut_tests                has to find tests by its arguments
  any other program          has to be built; it runs where RUNS has it
  ctest                      has to find tests by its arguments
  a script                   has to be there, and to know the mode that its first argument names
  cmake, ninja               the preset and the targets have to be there
Prints each fault with its document. Exit code 1 where there is one.
"""
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import command_examples
import documents
from tree import Tree

FILES = {
    "FILE": "samples/joint/tiny_conv.json.gz",
    "FILE…": "samples/joint/tiny_conv.json.gz",
    "TRACE": "tests/input/traces/llama.trace.log.gz",
    "model.pt2": "tests/input/exported/layers.pt2",
    "model.onnx": "tests/onnx/models/tiny_gpt.onnx",
    "CMD {}": "test -s {}; false",
}
RUNS = {"recut_example", "bench_plans_bench"}
NO_DRIVER = "no CUDA driver"
FINDERS = {"bisect", "minimize"}  # exit code 1: nothing was found, as the check in FILES has it
SECONDS = 120
SCRIPT = re.compile(r"(?:(?:node|python3|xvfb-run)\s+(?:-\w+\s+)*)?((?:tests|wasm|samples|native|\.setup)/[\w./-]+\.(?:sh|py|mjs))\b(.*)")


def commands_of(text):
    """The commands of a document, a line each."""
    fences = [fenced[0] for fenced in documents.FENCE.finditer(text)]
    pieces = [code[0].strip("`") for code in documents.CODE.finditer(documents.FENCE.sub("", text))]
    for piece in fences + pieces:
        for line in piece.replace("\\\n", " ").splitlines():
            yield from (part.strip() for part in line.split("#")[0].split("&&"))


class Checker:
    """Finds the fault of one command; "": none."""

    def __init__(self, build, root):
        self.build, self.root = build, root
        self.presets = {preset["name"] for preset in
                        json.loads((root / "CMakePresets.json").read_text(encoding="utf-8"))["configurePresets"]}

    def fault(self, line):
        """The fault of a line; None: it is no command."""
        if line.startswith("build/release/") and (words := shlex.split(line)):
            return self._program(words)
        if line.startswith("ctest --preset "):
            return self._tests(shlex.split(line)[2:])
        if line.startswith("cmake --"):
            preset = shlex.split(line)[-1]
            return "" if preset in self.presets else f"there is no preset {preset}"
        if line.startswith("ninja -C build/release "):
            return self._targets(shlex.split(line)[3:])
        found = SCRIPT.fullmatch(line)
        return self._script(found[1], shlex.split(found[2])) if found else None

    def _program(self, words):
        name = words[0].removeprefix("build/release/")
        program = self.build / name
        if not program.exists():
            return f"{words[0]} isn't built"
        if len(words) == 1 or "/" in name and pathlib.Path(name).name not in RUNS | {"recut_tests"}:
            return ""
        if program.name == "recut_tests":
            listed = self._run([program, "--list-tests", *words[1:]])
            return "" if re.search(r"[1-9]\d* (?:matching )?test case", listed.stdout) else "no test case matches"
        if program.name == "recut" or program.name in RUNS:
            return self._recut(program, words)
        return ""

    def _recut(self, program, words):
        line = shlex.join(words)
        gpu = "--device cuda" in line
        if program.name == "recut" and not gpu and not set(words) & set(FILES):
            return ""  # command_examples.py runs it
        with tempfile.TemporaryDirectory() as folder:
            arguments = [re.sub(r"^(?:build/|(?=small\.))", f"{folder}/", FILES.get(word, word)) for word in words[1:]]
            if missing := [word for word in arguments if re.fullmatch(r"[A-Z]+…?|\[.*", word)]:
                return f"no file stands for {missing[0]}"
            ran = self._run([program, *arguments])
        nothing = ran.returncode == 1 and words[1] in FINDERS
        if ran.returncode == 0 or nothing or gpu and NO_DRIVER in ran.stderr:
            return ""
        return f"exit code {ran.returncode}: {ran.stderr.strip()[-400:]}"

    def _tests(self, words):
        if words[0] not in self.presets:
            return f"there is no preset {words[0]}"
        folder = self.root / "build" / words[0]
        if not (folder / "CTestTestfile.cmake").exists():
            return ""  # of a preset that isn't built
        listed = self._run(["ctest", "--test-dir", folder, "-N", *words[1:]])
        return "no test matches" if "Total Tests: 0" in listed.stdout else ""

    def _targets(self, targets):
        for target in targets:
            if self._run(["ninja", "-C", self.build, "-t", "query", target]).returncode:
                return f"there is no target {target}"
        return ""

    def _script(self, path, arguments):
        script = self.root / path
        if not script.is_file():
            return f"{path} isn't there"
        mode = arguments[0] if arguments else ""
        known = not re.fullmatch(r"[a-z]+", mode) or re.search(rf"\b{mode}\b", script.read_text(encoding="utf-8"))
        return "" if known or list(script.parent.glob(f"{mode}*")) else f"{path} doesn't know {mode}"

    def _run(self, words):
        return subprocess.run([str(word) for word in words], cwd=self.root, capture_output=True, text=True,
                              errors="replace", timeout=SECONDS, check=False)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    root = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else pathlib.Path(__file__).parents[2]).resolve()
    tree, checker = Tree(root), Checker(build, root)
    faults, checked = [], {}
    for path in tree.paths:
        for line in commands_of(tree.read(path)) if path.endswith(".md") else ():
            if line not in checked:
                checked[line] = checker.fault(line)
                faults += [f"{path}: {line}\n  {checked[line]}"] if checked[line] else []
    print("\n".join(faults))
    print(f"{sum(fault is not None for fault in checked.values())} commands, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
