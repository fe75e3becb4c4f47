#!/usr/bin/env bash
# Installs what Recut needs and this machine lacks: Debian packages
# (packages.txt) and the sources of libraries that Debian 12 carries too old.
# Nothing missing: nothing is touched, and this takes a fraction of a second.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source "$here/say.sh"
source "$here/debian.sh"
source "$here/sources.sh"

install_packages "$here/packages.txt"
fetch_source catch2 3.7.1 catch2_3.7.1.orig.tar.gz \
  c991b247a1a0d7bb9c39aa35faf0fe9e19764213f28ffba3109388e62ee0269c
