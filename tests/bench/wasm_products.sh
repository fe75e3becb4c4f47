#!/usr/bin/env bash
# A matrix product as Recut emits it for WebAssembly, beside one written by hand,
# in node and in Chromium.
#
# usage: wasm_products.sh [RECUT [ROUNDS]]     RECUT: build/release/recut
set -euo pipefail
exec node --experimental-wasm-relaxed-simd "$(dirname "${BASH_SOURCE[0]}")/wasm_products.mjs" "$@"
