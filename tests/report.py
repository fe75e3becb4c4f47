#!/usr/bin/env python3
"""Sums up what the stages of tests/run.sh did.

usage: report.py STAGE...     such as release, asan, wasm: folders of build/

Reads what ctest wrote (build/STAGE/tests.xml), what Catch2 wrote of single
cases (build/STAGE/results/), and build/stages.txt, a line `stage|step|seconds|
ok or failed` for each step of tests/run.sh. Prints the time of each step, the
counts of each stage, the slowest tests and all failures. A skip that
tests/expected_skips.txt doesn't expect is a failure.
"""
import collections
import fnmatch
import importlib.util
import locale
import pathlib
import shutil
import sys
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parents[1]
SLOWEST = 20

Test = collections.namedtuple("Test", "name verdict seconds assertions reason", defaults=("",))


def has_comma_locale():
    """Whether some locale of this machine writes numbers with a comma."""
    for name in ("de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"):
        try:
            locale.setlocale(locale.LC_NUMERIC, name)
            return True
        except locale.Error:
            continue
    return False


CUDA = pathlib.Path("/usr/local/cuda")

# What a line of expected_skips.txt may name, and whether it is there; beside these `shared/X`, a folder
# beside the checkout, and the names of stages: what is not their business.
NEEDS = {
    "pytorch": lambda: importlib.util.find_spec("torch") is not None,
    "nvcc": lambda: bool(shutil.which("nvcc")) or (CUDA / "bin/nvcc").exists(),
    "nvrtc": lambda: any(CUDA.glob("lib*/libnvrtc.so*")),
    "cuda-headers": lambda: (CUDA / "include/cudnn.h").exists(),
    "no-gpu": lambda: not pathlib.Path("/dev/nvidiactl").exists(),
    "comma-locale": has_comma_locale,
}


def is_missing(need, stage):
    if need.startswith("shared/"):
        return not (ROOT.parent / need).exists()
    if need.startswith("not-"):
        return stage == need.removeprefix("not-")
    return not NEEDS[need]()


def expected_skips():
    """Patterns of names, each with the need that is missing where such a test may skip."""
    skips = []
    for line in (ROOT / "tests/expected_skips.txt").read_text().splitlines():
        line = line.split("#")[0].strip()
        if line:
            pattern, need = (part.strip() for part in line.rsplit("|", 1))
            skips.append((pattern, need))
    return skips


def is_expected(stage, name, skips):
    return any(fnmatch.fnmatchcase(name, pattern) and is_missing(need, stage)
               for pattern, need in skips)


def source_of(case, entry):
    """The test source a case stands in, without its ending; else the name of ctest's entry."""
    place = case.get("filename", "").rpartition("tests/")[2]
    return place.removesuffix(".cpp").removesuffix("_test") or entry


def catch2_cases(path, entry):
    """The cases of one report of Catch2; raises ParseError where the program died while writing."""
    for case in xml.parse(path).getroot().iter("TestCase"):
        result = case.find("OverallResult")
        seconds = float(result.get("durationInSeconds", 0))
        skipped = result.get("skips", "0") != "0"
        verdict = "failed" if result.get("success") != "true" else "skipped" if skipped else "passed"
        name = f"{source_of(case, entry)}: {case.get('name')}"
        yield Test(name, verdict, seconds, 0, (case.findtext("Skip") or "").strip())


def assertions_of(path):
    totals = xml.parse(path).getroot().find("OverallResults")
    return sum(int(totals.get(kind)) for kind in ("successes", "failures", "expectedFailures"))


def ctest_verdict(entry):
    if entry.find("skipped") is not None:
        return "skipped"
    return "passed" if entry.get("status") == "run" else "failed"


def tests_of(stage):
    """All tests of a stage: the cases of each entry of ctest that has a report, else the entry."""
    folder = ROOT / "build" / stage
    for entry in xml.parse(folder / "tests.xml").getroot().iter("testcase"):
        name, verdict = entry.get("name"), ctest_verdict(entry)
        seconds = float(entry.get("time", 0))
        report = folder / "results" / (name.replace("/", ".") + ".xml")
        cases = []
        if report.exists():
            try:
                cases = list(catch2_cases(report, name))
                cases[0] = cases[0]._replace(assertions=assertions_of(report))
            except (xml.ParseError, AttributeError, IndexError):
                cases = []
        yield from cases
        # A fault outside of all cases, such as a leak that shows at the end, is the entry's own.
        if not cases or (verdict == "failed" and all(c.verdict != "failed" for c in cases)):
            yield Test(name, verdict, seconds, 0)


def read_steps():
    path = ROOT / "build" / "stages.txt"
    return [line.split("|") for line in path.read_text().splitlines()] if path.exists() else []


def print_steps(steps):
    print("\n  stage    step                  seconds")
    for stage, step, seconds, _ in steps:
        print(f"  {stage:8} {step:20} {int(seconds):8}")
    print(f"  {'all':8} {'':20} {sum(int(s[2]) for s in steps):8}")


def print_counts(counted):
    print("\n  stage    passed  failed  skipped  assertions")
    for stage, tests in counted.items():
        by = collections.Counter(test.verdict for test in tests)
        print(f"  {stage:8} {by['passed']:6}  {by['failed']:6}  {by['skipped']:7}"
              f"  {sum(test.assertions for test in tests):10}")


def print_slowest(counted):
    print(f"\n  the {SLOWEST} slowest tests")
    tests = [(test.seconds, stage, test.name) for stage, all_ in counted.items() for test in all_]
    for seconds, stage, name in sorted(tests, reverse=True)[:SLOWEST]:
        print(f"  {seconds:7.1f} s  {stage}: {name[:110]}")


def main():
    skips, steps = expected_skips(), read_steps()
    counted, failures = {}, []
    for stage in sys.argv[1:]:
        if not (ROOT / "build" / stage / "tests.xml").exists():
            continue
        counted[stage] = list(tests_of(stage))
        failures += [f"{stage}: {t.name}" for t in counted[stage] if t.verdict == "failed"]
        failures += [f"{stage}: {t.name} skipped ({t.reason}), and tests/expected_skips.txt doesn't expect it"
                     for t in counted[stage] if t.verdict == "skipped"
                     and not is_expected(stage, t.name, skips)]
    failures += [f"{stage}: {step}" for stage, step, _, verdict in steps if verdict == "failed"]
    by = collections.Counter(test.verdict for tests in counted.values() for test in tests)
    steps_passed = sum(1 for *_, verdict in steps if verdict == "passed")
    print_steps(steps)
    print_counts(counted)
    print_slowest(counted)
    print()
    for failure in failures:
        print(f"FAILED {failure}")
    passed = by["passed"] + steps_passed
    print(f"{passed} passed, {len(failures)} failed, {by['skipped']} skipped")
    return 1 if failures or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
