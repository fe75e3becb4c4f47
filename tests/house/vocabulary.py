"""Words that the field has a standard term for: tests/house/forbidden_words.txt lists them.

Each line of that file is `REGEX | TERM` or `FOLDERS: REGEX | TERM`, with commas between folders; the term is said instead. A line
`allow PATH: REGEX` lets lines of a file that match REGEX keep old words, as names that scripts of users have.
"""
import functools
import re

LIST = "tests/house/forbidden_words.txt"
SKIPPED = (LIST, "engine/GLOSSARY.md", "tests/house/check_test.py", "tests/fuzz/corpus/",
           "tests/conformance/samples/", "samples/joint/")
SUFFIXES = (".h", ".cpp", ".cuh", ".def", ".py", ".sh", ".cmake", ".txt", ".md", ".js", ".mjs", ".ts",
            ".rules", ".script", ".words", ".lesson", ".html", ".css")


def check_vocabulary(tree):
    """No line of the repository has a forbidden word."""
    if LIST not in tree.paths:
        return []
    words, allowed = _read(tree.read(LIST))
    failures = []
    for path in tree.paths:
        if path.startswith(SKIPPED) or not path.endswith(SUFFIXES):
            continue
        here = [(pattern, term) for folders, pattern, term in words if path.startswith(folders)]
        if not here:
            continue
        text = tree.read(path)
        if not any(pattern.search(text) for pattern, _ in here):
            continue
        exceptions = [pattern for prefix, pattern in allowed if path.startswith(prefix)]
        for number, line in enumerate(text.splitlines(), 1):
            failures += [f'{path}:{number}: "{found[0]}": say "{term}"' for pattern, term in here
                         if (found := pattern.search(line)) and not any(e.search(line) for e in exceptions)]
    return failures


def _read(text):
    """([(folders, pattern, term)], [(path, pattern)]) of the list."""
    words, allowed = [], []
    for line in text.splitlines():
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("allow "):
            path, _, pattern = line[len("allow "):].partition(": ")
            allowed.append((path, re.compile(pattern)))
            continue
        pattern, _, term = line.rpartition(" | ")
        folder = re.match(r"([\w./,-]+): ", pattern)
        if folder:
            pattern = pattern[folder.end():]
        words.append((tuple(folder[1].split(",")) if folder else ("",), _compiled(pattern.strip()), term.strip()))
    return words, allowed


@functools.lru_cache(maxsize=None)
def _compiled(pattern):
    return re.compile(pattern)
