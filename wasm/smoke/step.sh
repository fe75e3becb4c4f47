#!/usr/bin/env bash
# Runs a graph's step in node, with as much memory as it likes and with as little as it can have.
#
# usage: step.sh STEP-SMOKE.js GRAPH.json.gz
set -euo pipefail
smoke="$1" packed="$2"
work="$(mktemp -d)"
trap 'rm -r "$work"' EXIT

# WebAssembly has no zlib; in a page the browser unpacks.
gzip --decompress --stdout "$packed" >"$work/graph.json"
for budget in none least; do
  echo "$budget:"
  node --no-experimental-fetch --experimental-wasm-relaxed-simd "$smoke" "$work/graph.json" "$budget"
done
