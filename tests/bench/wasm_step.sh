#!/usr/bin/env bash
# A step's kernels in WebAssembly beside the same as machine code.
#
# usage: wasm_step.sh [--recut RECUT] [--rounds N] [--steps N] [--all] FILE…
set -euo pipefail
exec node --experimental-wasm-relaxed-simd "$(dirname "${BASH_SOURCE[0]}")/wasm_step.mjs" "$@"
