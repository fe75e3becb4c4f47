#!/usr/bin/env bash
# librecut.so shows the functions of recut.h and nothing else, and needs nothing but the C library.
#
# usage: exports.sh LIBRARY HEADER
set -euo pipefail
library="$1" header="$2"

declared="$(grep -o '\brecut_[a-z_]*(' "$header" | tr -d '(' | sort -u)"
shown="$(nm -D --defined-only "$library" | awk '{print $3}' | sort -u)"
if [[ "$declared" != "$shown" ]]; then
  echo "declared in $header (<), shown by $library (>):" >&2
  diff <(echo "$declared") <(echo "$shown") >&2
fi

needed="$(objdump -p "$library" | awk '$1 == "NEEDED" {print $2}')"
others="$(grep -vxE 'libc\.so\.6|libm\.so\.6|ld-linux-x86-64\.so\.2|ld-linux-aarch64\.so\.1' <<<"$needed" || true)"
if [[ -n "$others" ]]; then
  echo "$library needs more than the C library: $others" >&2
  exit 1
fi
