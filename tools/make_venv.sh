#!/bin/sh
# Make a virtual environment in $1 with $PYTHON (python3 by default). Debian keeps ensurepip in a
# package of its own; as root it is installed where it is missing.
set -eu
python=${PYTHON:-python3}
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  echo "make: $python is older than 3.11; run make with PYTHON=/path/to/python3.11" >&2
  exit 1
fi
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq && apt-get install -qq -y --no-install-recommends python3-venv
  else
    echo "make: $python has no ensurepip; install it first: sudo apt-get install python3-venv" >&2
    exit 1
  fi
fi
"$python" -m venv "$1"
