"""The folders of gui, as gui/README.md lists them: each uses only those above it, and none knows where it runs."""
import re

from includes import INCLUDE

MAP = "gui/README.md"
# The platforms' own headers; they stand in native and wasm.
PLATFORM = re.compile(r"#\s*include\s*[<\"](GLFW/|emscripten|filesystem|unistd|sys/|GL/)")
CONDITION = re.compile(r"\s*#\s*(if|ifdef|ifndef|elif)\b")
NO_IMGUI = ("layout", "pictures", "model", "jobs")
IMGUI = re.compile(r"#\s*include\s*<imgui|#\s*include\s*\"gui/(draw|app|panels|commands)/")


def check_gui(tree):
    """Failures of the sources under gui; none where there is no map."""
    if MAP not in tree.paths:
        return []
    order = re.findall(r"^\| `([\w.*]+?)/?` \|", tree.read(MAP), re.MULTILINE)
    folders = {path.split("/")[1] for path in tree.sources
               if path.startswith("gui/") and path.count("/") >= 2}
    failures = [f"{MAP}: the folder {folder} is not on the map"
                for folder in sorted(folders - set(order))]
    for path in tree.sources:
        if path.startswith("gui/"):
            failures += _file_faults(tree, order, path)
    return failures


def _home(path):
    """The row that a file stands in: its folder, or `theme.*` for theme.h."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else parts[1].split(".")[0] + ".*"


def _file_faults(tree, order, path):
    failures = []
    home = _home(path)
    for number, line in enumerate(tree.read(path).splitlines(), 1):
        place = f"{path}:{number}"
        if PLATFORM.match(line):
            failures.append(f"{place}: gui doesn't know where it runs")
        if CONDITION.match(line):
            failures.append(f"{place}: gui is the same everywhere, without #if")
        if home in NO_IMGUI and IMGUI.match(line):
            failures.append(f"{place}: {home} draws nothing and knows no ImGui")
        include = INCLUDE.match(line)
        if include and include[1].startswith("gui/"):
            target = _home(include[1])
            if {home, target} <= set(order) and order.index(target) > order.index(home):
                failures.append(f"{place}: {home} stands above {target} and may not look down at it")
    return failures
