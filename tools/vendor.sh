#!/usr/bin/env bash
# Sourced by the scripts beside it: `bundle NAME TO` builds tools/NAME from npm, at the versions and
# integrity hashes of its lock file, into TO/vendor.js; `seal TO` writes the sums. What is built is
# committed, so that neither a user nor the tests need node.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

bundle() {
  cp "tools/$1/package.json" "tools/$1/package-lock.json" "tools/$1/entry.js" "$work"
  (cd "$work" && npm ci --ignore-scripts --no-audit --no-fund --silent)
  (cd "$work" && npx --no-install esbuild entry.js --bundle --minify --charset=utf8 --target=es2022 \
    --format=iife --global-name=vendor --legal-comments=none --log-level=warning --outfile=vendor.js)
  mkdir -p "$2"
  cp "$work/vendor.js" "$2/vendor.js"
}

title() {
  printf '%s %s\n\n' "$1" "$(node -p "require('$work/node_modules/$1/package.json').version")"
}

seal() {
  (cd "$1" && sha256sum vendor.js LICENSES.txt > SHA256SUMS)
  cat "$1/SHA256SUMS"
}
