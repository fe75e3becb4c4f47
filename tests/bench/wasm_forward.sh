#!/usr/bin/env bash
# A model's forward pass in WebAssembly, as Recut emits it and by onnxruntime-web.
#
# usage: wasm_forward.sh [--recut RECUT] [--rounds N] MODEL.onnx…     each with its MODEL.safetensors
#        before: npm ci --prefix tests/onnx && tests/onnx/make_models.py FOLDER --large
set -euo pipefail
exec node --experimental-wasm-relaxed-simd "$(dirname "${BASH_SOURCE[0]}")/wasm_forward.mjs" "$@"
