#!/usr/bin/env bash
# Plays a scenario with the window as WebAssembly, in node.
#
# usage: play.sh WINDOW-SMOKE.js SCENARIO.script FOLDER-OF-SAMPLES
set -euo pipefail
smoke="$1" scenario="$2" samples="$3"
work="$(mktemp -d)"
trap 'rm -r "$work"' EXIT
# WebAssembly has no zlib; in a page the browser unpacks.
for graph in tiny_conv tiny_mlp; do
  gzip --decompress --stdout "$samples/$graph.json.gz" >"$work/$graph.json"
done
cd "$samples/../.." # scenarios name files from the top of the repository
node --no-experimental-fetch "$smoke" "$scenario" "tiny_conv=$work/tiny_conv.json" \
  "samples/joint/tiny_mlp.json.gz=$work/tiny_mlp.json"
