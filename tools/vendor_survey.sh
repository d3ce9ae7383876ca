#!/usr/bin/env bash
# Build the libraries of surveys from npm, at the versions and integrity hashes of the lock file.
# The result is committed, so that neither a user nor the tests need node.
set -euo pipefail
cd "$(dirname "$0")/.."
to=src/felicity/survey/page/vendor
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp tools/survey/package.json tools/survey/package-lock.json tools/survey/entry.js "$work"
(cd "$work" && npm ci --ignore-scripts --no-audit --no-fund --silent)
(cd "$work" && npx --no-install esbuild entry.js --bundle --minify --charset=utf8 --target=es2022 \
  --format=iife --global-name=vendor --legal-comments=none --log-level=warning --outfile=vendor.js)
mkdir -p "$to"
cp "$work/vendor.js" "$to/vendor.js"
title() {
  printf '%s %s\n\n' "$1" "$(node -p "require('$work/node_modules/$1/package.json').version")"
}
{
  # Packages of jsPsych say MIT and bring no licence text along.
  for name in jspsych @jspsych/plugin-html-button-response @jspsych/plugin-survey-html-form; do
    title "$name"
  done
  cat tools/survey/jspsych-license.txt
  printf '\n\n'
  title auto-bind
  cat "$work/node_modules/auto-bind/license"
  printf '\n\n'
  title random-words
  cat "$work/node_modules/random-words/LICENSE"
  printf '\n\n'
  title seedrandom
  sed -n '/^LICENSE (MIT)/,$p' "$work/node_modules/seedrandom/README.md"
} | sed -e 's/[[:space:]]*$//' > "$to/LICENSES.txt"
(cd "$to" && sha256sum vendor.js LICENSES.txt > SHA256SUMS)
cat "$to/SHA256SUMS"
