#!/usr/bin/env bash
# Runs the page's checks in Debian's Chromium, without a screen. Skipped (77) where there is no
# Chromium.
#
# usage: run.sh all|GROUP[,GROUP...] SITE RECUT [--only TEXT] [--lanes COUNT] [--report FILE.xml]
#   GROUP   `plans` for plans_checks.mjs
#   SITE    the built page
#   RECUT   the native command that it is compared with
#   TEXT    of a check's name
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
if [[ ! -x ${CHROMIUM:-/usr/bin/chromium} ]]; then
  echo "skipped: no Chromium; .setup/install.sh --tests installs it"
  exit 77
fi
exec node "$here/run.mjs" "$@"
