"""The documents: the README is short, what is generated is what its source gives, and links point to files."""
import json
import pathlib
import posixpath
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import claims  # noqa: E402  (tests/claims.py)

README = "README.md"
WINDOW = "native/window/main.cpp"
GUIDES = ("engine/ADDING.md", "gui/README.md")
MOST_BYTES = 8192
FENCE = re.compile(r"^( *)```.*?^\1```[^\n]*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\]\(([^()\s]+)\)|<(?:img|a)\s[^>]*?(?:src|href)=\"([^\"]+)\"")
NAMED_FILE = re.compile(r"`((?:engine|gui|wasm|native|samples|tests)/[\w./-]+\.(?:h|cpp|cuh|def|rules|js|mjs|py|sh|md))`"
                        r"|`([\w./-]+\.(?:h|cpp|\*))`")  # the second: also without the folders before it
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//")


def check_readme(tree):
    """A newcomer reads all of it: the README is no longer than a few screens."""
    if README not in tree.paths:
        return []
    size = (tree.root / README).stat().st_size
    return [f"{README}: {size} bytes; at most {MOST_BYTES} are expected"] if size > MOST_BYTES else []


def check_claims(tree):
    """tests/VALIDATION.md is what tests/claims.py makes of tests/claims.json."""
    if claims.CLAIMS not in tree.paths:
        return []
    rows = json.loads(tree.read(claims.CLAIMS))
    failures = claims.faults(rows)
    if failures:
        return failures
    if claims.DOCUMENT not in tree.paths or tree.read(claims.DOCUMENT) != claims.render(rows):
        return [f"{claims.DOCUMENT}: isn't what {claims.CLAIMS} gives; run python3 tests/claims.py --write"]
    return []


def check_links(tree):
    """Relative links between documents point to files or folders of the repository."""
    known = set(tree.paths)
    known |= {parent for path in tree.paths for parent in _folders_of(path)}
    failures = []
    for path in tree.paths:
        if path.endswith(".md"):
            failures += [f"{path}:{line}: the link {target} leads nowhere"
                         for line, target in _links(tree.read(path))
                         if posixpath.normpath(posixpath.join(posixpath.dirname(path), target)) not in known]
    return failures


def check_examples(tree):
    """C++ in the guides to additions is code of the repository, line for line: the build and its tests hold it."""
    code = "\0".join(re.sub(r"\s+", "", tree.read(path)) for path in tree.sources)
    failures = []
    for guide in [guide for guide in GUIDES if guide in tree.paths]:
        for number, line in _lines_of_cpp(tree.read(guide)):
            parts = [re.sub(r"\s+", "", part) for part in re.sub(r"\s*//.*", "", line).split("…")]
            if any(part and part not in code for part in parts):
                failures.append(f"{guide}:{number}: no source has this line; show code of the repository")
    return failures


def check_named_files(tree):
    """Files that a document names in code exist, from a top folder on or from one of the engine's components."""
    known = {path[begin:] for path in tree.paths for begin in _beginnings(path)}
    known |= {f"{path.rpartition('.')[0]}.*" for path in known}
    failures = []
    for path in tree.paths:
        if not path.endswith(".md"):
            continue
        text = FENCE.sub(lambda fenced: "\n" * fenced[0].count("\n"), tree.read(path))
        for number, line in enumerate(text.splitlines(), 1):
            names = [from_top or anywhere for from_top, anywhere in NAMED_FILE.findall(line)]
            failures += [f"{path}:{number}: there is no file {name}" for name in names
                         if name not in known and not re.search(r"\b[A-Z]{2,}\b", name)]
    return failures


def check_window_options(tree):
    """gui/README.md has every option of recut-gui; those of recut are in its generated reference."""
    if WINDOW not in tree.paths:
        return []
    options = re.findall(r'add_(?:option|flag)\(\s*"(--[a-z-]+)"', tree.read(WINDOW))
    known = tree.read("gui/README.md") if "gui/README.md" in tree.paths else ""
    return [f"{WINDOW}: gui/README.md lacks the option {option}" for option in options if f"| `{option}" not in known]


def _beginnings(path):
    """Where the path begins, and each of its folders and its name."""
    return [0] + [place + 1 for place, letter in enumerate(path) if letter == "/"]


def _lines_of_cpp(text):
    """(line number, line) of the lines in fences of C++."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            inside = line.strip() == "```cpp"
        elif inside:
            yield number, line


def _folders_of(path):
    """The folders above a path, and the top."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)] + ["."]


def _links(text):
    """(line, target) of every relative link, without its fragment; code has none."""
    text = FENCE.sub(lambda fenced: "\n" * fenced[0].count("\n"), text)
    for number, line in enumerate(CODE.sub("", text).splitlines(), 1):
        for markdown, html in LINK.findall(line):
            target = (markdown or html).partition("#")[0]
            if target and not ELSEWHERE.match(target):
                yield number, target
