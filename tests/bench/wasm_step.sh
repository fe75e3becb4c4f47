#!/usr/bin/env bash
# A step's kernels in WebAssembly beside the same as machine code.
#
# usage: wasm_step.sh [--recut RECUT] [--rounds N] [--steps N] [--all] FILE…
set -euo pipefail
flag=--experimental-wasm-relaxed-simd # before version 22, which has lost it
node $flag -e 0 2>/dev/null || flag=
exec node $flag "$(dirname "${BASH_SOURCE[0]}")/wasm_step.mjs" "$@"
