#!/usr/bin/env bash
# A matrix product as Recut emits it for WebAssembly, beside one written by hand,
# in node and in Chromium.
#
# usage: wasm_products.sh [RECUT [ROUNDS]]     RECUT: build/release/recut
set -euo pipefail
flag=--experimental-wasm-relaxed-simd # before version 22, which has lost it
node $flag -e 0 2>/dev/null || flag=
exec node $flag "$(dirname "${BASH_SOURCE[0]}")/wasm_products.mjs" "$@"
