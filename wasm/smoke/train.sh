#!/usr/bin/env bash
# Trains a graph in node with one, two and three threads: all losses are the same bits.
#
# usage: train.sh TRAIN-SMOKE.js GRAPH.json.gz OPTIMIZER
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
smoke="$1" packed="$2" optimizer="$3"
work="$(mktemp -d)"
trap 'rm -r "$work"' EXIT

gzip --decompress --stdout "$packed" >"$work/graph.json"
for threads in 1 2 3; do
  node --no-experimental-fetch --experimental-wasm-relaxed-simd "$here/threads.mjs" "$threads" \
    "$smoke" "$work/graph.json" "$optimizer" 20 >"$work/losses.$threads"
done
[[ $(sort -u "$work/losses.1" | wc -l) -eq 40 ]]
cmp "$work/losses.1" "$work/losses.2"
cmp "$work/losses.1" "$work/losses.3"
