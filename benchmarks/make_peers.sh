#!/bin/sh
# Make the environment that the peers of benchmarks/scoring.py run in: $1, or .venv-peers.
# Apart from ours, because minicons 0.3.39 cannot score masked models under transformers 5.
set -eu
place=${1:-.venv-peers}
"${PYTHON:-python3}" -m venv "$place"
"$place/bin/pip" install --quiet --disable-pip-version-check \
  'torch>=2.9,<2.14' 'transformers==4.57.6' 'minicons==0.3.39' 'lm-eval[hf]==0.4.13'
"$place/bin/python" -c 'import torch, transformers, minicons, lm_eval
print("torch", torch.__version__, "transformers", transformers.__version__)'
