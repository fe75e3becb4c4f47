#!/usr/bin/env bash
# Runs one group of the page's checks in Debian's Chromium, without a screen. Skipped (77) where
# there is no Chromium.
#
# usage: run.sh GROUP SITE RECUT     GROUP: `plans` for plans_checks.mjs; SITE: the built
#                                    page; RECUT: the native command that it is compared with
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
if [[ ! -x ${CHROMIUM:-/usr/bin/chromium} ]]; then
  echo "skipped: no Chromium; .setup/install.sh --tests installs it"
  exit 77
fi
exec node "$here/run.mjs" "$@"
