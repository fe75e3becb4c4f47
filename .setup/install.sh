#!/usr/bin/env bash
# Installs the dependencies that this machine lacks: Debian packages and the
# sources of libraries that Debian 12 carries too old. Nothing missing: nothing
# is touched, and this takes a fraction of a second.
#
# usage: .setup/install.sh [--page|--tests]     --page: dependencies of wasm/run.sh, too
#                                               --tests: dependencies of tests/run.sh, too
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source "$here/say.sh"
source "$here/debian.sh"
source "$here/sources.sh"
source "$here/npm.sh"

lists=("$here/packages.txt")
case "${1:-}" in
  "") ;;
  --page) lists+=("$here/packages-page.txt") ;;
  --tests) lists+=("$here/packages-page.txt" "$here/packages-tests.txt") ;;
  *) fail "usage: .setup/install.sh [--page|--tests]" ;;
esac

install_packages "${lists[@]}"
fetch_source catch2 3.7.1 catch2_3.7.1.orig.tar.gz \
  c991b247a1a0d7bb9c39aa35faf0fe9e19764213f28ffba3109388e62ee0269c
fetch_source imgui 1.90.1 imgui_1.90.1+ds.orig.tar.xz \
  ecce377df0f90b292f15dcbd83d438bddc162b2388c881132bde18c787572a1c
[[ -z ${1:-} ]] || fetch_source protobuf 3.21.12 protobuf_3.21.12.orig.tar.gz \
  930c2c3b5ecc6c9c12615cf5ad93f1cd6e12d0aba862b572e076259970ac3a53
[[ -z ${1:-} ]] || fetch_source zlib 1.3.1 zlib_1.3.dfsg+really1.3.1.orig.tar.gz \
  60dd315c07f616887caa029408308a018ace66e3d142726a97db164b3b8f69fb
[[ ${1:-} != --tests ]] || install_modules "$here/../tests/page"
