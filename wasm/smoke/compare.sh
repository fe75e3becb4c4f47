#!/usr/bin/env bash
# Holds what the engine prints as WebAssembly against what the native command
# prints: every byte has to be the same, but for the time that planning took.
#
# usage: compare.sh RECUT SMOKE.js GRAPH.json.gz text|json|dot|svg|plan|peak|timeline
set -euo pipefail
recut="$1" smoke="$2" packed="$3" form="$4"

native_output() {
  local plan=("$recut" plan graph.json --strategy torch --budget 0.4)
  case "$form" in
    plan) "${plan[@]}" --out native.out >report.txt ;;
    peak) "$recut" plan graph.json --budget 60% --out native.out >report.txt ;;
    timeline) "${plan[@]}" --svg native.out >report.txt ;;
    *) "$recut" show graph.json --format "$form" >native.out ;;
  esac
}

without_times() { sed -E 's/("solve_ms": ?)[0-9.e+-]+/\10/' "$1"; }

if [[ ! -x $recut ]]; then
  echo "skipped: no native command at $recut to compare with; build preset release first"
  exit 77
fi
work="$(mktemp -d)"
trap 'rm -r "$work"' EXIT
cd "$work"

# WebAssembly has no zlib (in a page the browser unpacks), so both read the plain file.
gzip --decompress --stdout "$packed" >graph.json
native_output
node --no-experimental-fetch "$smoke" "$form" graph.json >wasm.out
cmp <(without_times native.out) <(without_times wasm.out)
echo "$(wc -c <wasm.out) bytes, the same"
