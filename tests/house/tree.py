"""The repository's files, and the map of its rooms as engine/README.md draws it."""
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
    def rooms(self):
        """{room: [door patterns]} in the map's order; an unbuilt room has no doors (None)."""
        rooms = {}
        for line in self.read("engine/README.md").splitlines():
            row = re.fullmatch(r"\| `(\w+)` \|.*\|([^|]*)\|", line)
            if row:
                doors = None if "to come" in row[2] else re.findall(r"`([^`]+)`", row[2])
                rooms[row[1]] = doors
        return rooms

    def is_door(self, room, header):
        """Whether others may include `header`, a path relative to the room's folder."""
        return any(fnmatch.fnmatchcase(header, door) and header.count("/") == door.count("/")
                   for door in self.rooms[room] or [])
