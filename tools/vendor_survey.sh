#!/usr/bin/env bash
# Build the libraries of surveys.
source "$(dirname "$0")/vendor.sh"
to=src/felicity/survey/page/vendor
bundle survey "$to"
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
seal "$to"
