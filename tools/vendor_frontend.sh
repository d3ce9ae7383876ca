#!/usr/bin/env bash
# Build the libraries of report.html from npm, at the versions and integrity hashes of the lock file.
# The result is committed, so that neither a user nor the tests need node.
set -euo pipefail
cd "$(dirname "$0")/.."
to=src/felicity/report/page/vendor
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp tools/frontend/package.json tools/frontend/package-lock.json tools/frontend/entry.js "$work"
(cd "$work" && npm ci --ignore-scripts --no-audit --no-fund --silent)
(cd "$work" && npx --no-install esbuild entry.js --bundle --minify --charset=utf8 --target=es2022 \
  --format=iife --global-name=vendor --legal-comments=none --log-level=warning --outfile=vendor.js)
mkdir -p "$to"
cp "$work/vendor.js" "$to/vendor.js"
{
  for name in preact htm; do
    version=$(node -p "require('$work/node_modules/$name/package.json').version")
    printf '%s %s\n\n' "$name" "$version"
    cat "$work/node_modules/$name/LICENSE"
    printf '\n\n'
  done
} | sed -e 's/[[:space:]]*$//' > "$to/LICENSES.txt"
(cd "$to" && sha256sum vendor.js LICENSES.txt > SHA256SUMS)
cat "$to/SHA256SUMS"
