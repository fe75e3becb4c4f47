#!/usr/bin/env bash
# The C example of kept operators, in a cache of its own: it misses, then finds what the command kept.
#
# usage: operator_example.sh RECUT EXAMPLE
set -euo pipefail
recut="$1" example="$2"
RECUT_CACHE_DIR="$(mktemp -d)"
export RECUT_CACHE_DIR
trap 'rm -rf "$RECUT_CACHE_DIR"' EXIT

code=0
"$example" || code=$?
[[ "$code" == 1 ]]
"$recut" compile-op aten.add.Tensor --inputs 'f32[2, 3]' 'f32[3]' --set alpha=2
[[ "$("$example")" == "21 42 63 24 45 66" ]]
