#!/usr/bin/env bash
# Build the libraries of report.html.
source "$(dirname "$0")/vendor.sh"
to=src/felicity/report/page/vendor
bundle frontend "$to"
{
  for name in preact htm; do
    title "$name"
    cat "$work/node_modules/$name/LICENSE"
    printf '\n\n'
  done
} | sed -e 's/[[:space:]]*$//' > "$to/LICENSES.txt"
seal "$to"
