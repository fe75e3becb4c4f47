#!/usr/bin/env bash
# Everything that has to hold before a change lands: the house check and all
# tests in release, all tests again under the sanitizers and a short run of
# every fuzz target, and the engine as WebAssembly compared with the native
# command. One stage's failure doesn't keep the others from running.
#
# usage: tests/run.sh [--quick]     --quick: only release
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source .setup/say.sh
source .setup/build.sh
source tests/stages.sh

case "${1:-}" in
  "") stages=(release asan wasm) ;;
  --quick) stages=(release) ;;
  *) fail "usage: tests/run.sh [--quick]" ;;
esac

mkdir -p build
step "Looking for what Recut needs"
.setup/install.sh --tests

for stage in "${stages[@]}"; do
  run_stage "$stage"
done
report
