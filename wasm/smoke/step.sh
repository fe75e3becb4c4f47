#!/usr/bin/env bash
# Runs a graph's step in node, with as much memory as it likes and with as little as it can have, on one thread and on
# two.
#
# usage: step.sh STEP-SMOKE.js GRAPH.json.gz
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
smoke="$1" packed="$2"
work="$(mktemp -d)"
trap 'rm -r "$work"' EXIT

# WebAssembly has no zlib; in a page the browser unpacks.
gzip --decompress --stdout "$packed" >"$work/graph.json"
for budget in none least; do
  for threads in 1 2; do
    echo "$budget, $threads:"
    node --no-experimental-fetch --experimental-wasm-relaxed-simd "$here/threads.mjs" "$threads" \
      "$smoke" "$work/graph.json" "$budget"
  done
done
