#!/usr/bin/env bash
# Builds the page (build/wasm/site) and serves it on the loopback address, which it prints. The
# folder is all there is to it: any server of plain files does, in any sub-folder.
#
# usage: wasm/run.sh [PORT]     8080 where none is given; 0: any that is free
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source .setup/say.sh
source .setup/build.sh

mkdir -p build
step "Looking for what the page needs"
.setup/install.sh --page

step "Building the page (build/wasm/site)"
build_preset wasm --target recut_site

exec node wasm/serve.mjs build/wasm/site "${1:-8080}"
