#!/usr/bin/env bash
# Everything that has to hold before a change lands: all tests in release, and clang-tidy of the sources
# that differ from the branch main of origin; all tests again under the sanitizers, and a short run of
# every fuzz target; the engine as WebAssembly compared with the native command, and the page in Chromium.
# One stage's failure doesn't keep the others from running. Prints at the end the time of each step, the
# slowest tests, and all failures.
#
# usage: tests/run.sh [--quick] [STAGE...]
#   --quick   only release, without the tests that ctest labels `slow`
#   STAGE     of release, asan, wasm, and tidy (clang-tidy of all, each header alone); without any: the first three
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source .setup/say.sh
source .setup/build.sh
source tests/stages.sh

stages=()
ctest_words=()
for word in "$@"; do
  case "$word" in
    --quick) ctest_words=(--label-exclude slow) && stages+=(release) ;;
    release | asan | wasm | tidy) stages+=("$word") ;;
    *) fail "usage: tests/run.sh [--quick] [release|asan|wasm|tidy]..." ;;
  esac
done
[[ ${#stages[@]} -gt 0 ]] || stages=(release asan wasm)

mkdir -p build
rm -f build/stages.txt
step_of all install .setup/install.sh --tests

for stage in "${stages[@]}"; do
  run_stage "$stage" || true
done
python3 -B tests/report.py "${stages[@]}"
