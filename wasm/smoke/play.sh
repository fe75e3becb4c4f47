#!/usr/bin/env bash
# Plays a scenario with the window as WebAssembly, in node.
#
# usage: play.sh WINDOW-SMOKE.js SCENARIO.script FOLDER-OF-SAMPLES
set -euo pipefail
smoke="$1" scenario="$2" samples="$3"
work="$(mktemp -d)"
trap 'rm -r "$work"' EXIT
# WebAssembly has no zlib; in a page the browser unpacks.
gzip --decompress --stdout "$samples/tiny_conv.json.gz" >"$work/tiny_conv.json"
node --no-experimental-fetch "$smoke" "$scenario" "tiny_conv=$work/tiny_conv.json"
