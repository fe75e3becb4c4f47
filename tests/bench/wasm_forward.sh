#!/usr/bin/env bash
# A model's forward pass in WebAssembly, as Recut emits it and by onnxruntime-web.
#
# usage: wasm_forward.sh [--recut RECUT] [--rounds N] MODEL.onnx…     each with its MODEL.safetensors
#        before: npm ci --prefix tests/onnx && tests/onnx/make_models.py FOLDER --large
set -euo pipefail
flag=--experimental-wasm-relaxed-simd # before version 22, which has lost it
node $flag -e 0 2>/dev/null || flag=
exec node $flag "$(dirname "${BASH_SOURCE[0]}")/wasm_forward.mjs" "$@"
