"""The repository's files, and the map of its components as engine/README.md draws it."""
import fnmatch
import functools
import os
import re
import subprocess

SOURCE = (".h", ".cpp", ".def")
TEXT = SOURCE + (".py", ".sh", ".cmake", ".txt", ".json", ".md", ".js", ".ts", ".html", ".css",
                 ".cu", ".cuh", ".in", ".recut", "run")


class Tree:
    def __init__(self, root):
        self.root = root

    @functools.cached_property
    def paths(self):
        """All files that git tracks or would track, as strings relative to the root."""
        listing = subprocess.run(
            ["git", "-C", self.root, "ls-files", "--cached", "--others", "--exclude-standard"],
            capture_output=True, text=True)
        if listing.returncode == 0:
            found = sorted(set(listing.stdout.splitlines()))
            return [path for path in found if (self.root / path).is_file()]
        return sorted(self._walk())

    def _walk(self):
        """The same for an unpacked archive, where git knows nothing."""
        for folder, inner, files in os.walk(self.root):
            inner[:] = [name for name in inner if name not in ("build", ".git", "node_modules")]
            for name in files:
                yield os.path.relpath(os.path.join(folder, name), self.root)

    @functools.cached_property
    def sources(self):
        return [path for path in self.paths if path.endswith(SOURCE)]

    @functools.cached_property
    def texts(self):
        return [path for path in self.paths if path.endswith(TEXT)]

    @functools.lru_cache(maxsize=None)
    def read(self, path):
        return (self.root / path).read_text(encoding="utf-8", errors="replace")

    @functools.cached_property
    def components(self):
        """{component: [patterns of public headers]} in the map's order; an unbuilt component has none (None)."""
        components = {}
        for line in self.read("engine/README.md").splitlines():
            row = re.fullmatch(r"\| `(\w+)` \|.*\|([^|]*)\|", line)
            if row:
                patterns = None if "to come" in row[2] else re.findall(r"`([^`]+)`", row[2])
                components[row[1]] = patterns
        return components

    def is_public(self, component, header):
        """Whether others may include `header`, a path relative to the component's folder."""
        return any(fnmatch.fnmatchcase(header, pattern) and header.count("/") == pattern.count("/")
                   for pattern in self.components[component] or [])
