#!/usr/bin/env python3
"""Runs the examples of the command's help, and the commands in the documents.

usage: command_examples.py RECUT [ROOT]

RECUT is the built command. Every subcommand's help ends with two examples or more; they run as they stand, and so does
every `build/release/recut …` of the repository's documents, unless it has a placeholder, reads a file that isn't there,
or asks for a GPU. All run from the repository's root, but write into temporary folders instead of build/. Exit code 1
where a command fails, or a help has too few examples.
"""
import collections
import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import command_reference
import documents
from tree import Tree

PROGRAM = "build/release/recut"
LEAST_EXAMPLES = 2
SECONDS = 60
AT_ONCE = 2
PLACEHOLDER = re.compile(r"\b[A-Z][A-Z_]*\b|[…|$<>;&]|(?<![\w'])\[|--device cuda")
FILE = re.compile(r"[\w./-]+\.(?:recut|json|json\.gz|onnx|pt2|pickle|safetensors|rules)")
OUTPUTS = {"-o", "--out", "--out-tensors", "--svg", "--csv", "--curve", "--header", "--weights", "--emit-graphs", "--halves", "--dump"}

# Commands that run one after the other in one folder, as lists of words.
Group = collections.namedtuple("Group", "place commands")


def help_examples(help_text):
    """The lines below "Examples:" in a footer."""
    return [line.strip() for line in help_text.footer.partition("Examples:\n")[2].splitlines()]


def help_faults(help_text):
    """What is wrong with the examples of a help as they stand."""
    name, found = " ".join(("recut", *help_text.words)), help_examples(help_text)
    faults = [f"{name} --help: not an example of it: {line}" for line in found if not f"{line} ".startswith(f"{name} ")]
    few = [f"{name} --help: {len(found)} examples; at least {LEAST_EXAMPLES} are expected"]
    return faults + (few if len(found) < LEAST_EXAMPLES else [])


def document_groups(path, text, root):
    """The commands of a document that can run here: each fence a group, and each piece of code in a line."""
    fences = [fenced[0] for fenced in documents.FENCE.finditer(text)]
    pieces = [code[0].strip("`") for code in documents.CODE.finditer(documents.FENCE.sub("", text))]
    for piece in fences + pieces:
        lines = [line.strip() for line in piece.replace("\\\n", " ").splitlines()]
        commands = [shlex.split(line, comments=True) for line in lines
                    if line.startswith(f"{PROGRAM} ") and not PLACEHOLDER.search(line)]
        if runnable := _runnable(commands, root):
            yield Group(path, runnable)


def _runnable(commands, root):
    """Those whose files are in the repository, or written by one before."""
    written, found = set(), []
    for words in commands:
        outputs = _outputs(words)
        inputs = {word for word in words[1:] if FILE.fullmatch(word)} - outputs
        if all(_is_there(path, written, root) for path in inputs):
            found.append(words)
            written |= outputs
    return found


def _outputs(words):
    """The files and folders that a command writes."""
    options = OUTPUTS | ({"--tensors"} if words[1] == "import" else set())
    return {value for option, value in zip(words, words[1:]) if option in options}


def _is_there(path, written, root):
    if path.startswith("build/"):
        return any(path == made or path.startswith(f"{made}/") for made in written)
    return ".." not in path and (root / path).is_file()


def run_group(recut, root, group):
    """What fails of a group, a text each."""
    with tempfile.TemporaryDirectory() as folder:
        failures = [_run(recut, root, words, pathlib.Path(folder)) for words in group.commands]
    return [f"{group.place}: {failure}" for failure in failures if failure]


def _run(recut, root, words, folder):
    """Why a command fails; "" where it does not."""
    line = shlex.join(words)
    if outside := sorted(path for path in _outputs(words) if not path.startswith("build/")):
        return f"{line}\nwrites outside build/: {', '.join(outside)}"
    arguments = [re.sub(r"^build/", f"{folder}/", word) for word in words[1:]]
    own = {"RECUT_CACHE_DIR": str(folder / "cache"), "XDG_CONFIG_HOME": str(folder / "settings")}
    try:
        ran = subprocess.run([recut, *arguments], cwd=root, env=os.environ | own, timeout=SECONDS,
                             capture_output=True, text=True, errors="replace")
    except subprocess.TimeoutExpired:
        return f"{line}\ntakes more than {SECONDS} s"
    return f"{line}\nexit code {ran.returncode}\n{ran.stderr}" if ran.returncode else ""


def main():
    recut = pathlib.Path(sys.argv[1]).resolve()
    root = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else pathlib.Path(__file__).parents[2]).resolve()
    tree = Tree(root)
    helps = command_reference.all_helps(recut)
    failures = [fault for help_text in helps for fault in help_faults(help_text)]
    groups = [Group("--help", [shlex.split(line)]) for help_text in helps for line in help_examples(help_text)]
    for path in tree.paths:
        groups += document_groups(path, tree.read(path), root) if path.endswith(".md") else []
    groups = list({repr(group.commands): group for group in groups}.values())  # each once
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for failed in pool.map(lambda group: run_group(recut, root, group), groups):
            failures += failed
    print("\n".join(failures))
    print(f"{sum(len(group.commands) for group in groups)} commands, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
