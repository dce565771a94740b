#!/usr/bin/env bash
# Makes the environments of the peers that benchmarks/training.py and benchmarks/translating.py measure; the project itself needs none of them.
#
#   benchmarks/setup_peers.sh DIR      makes DIR/hf/venv and DIR/joeynmt/venv, each with a PyTorch of its own
#
# Run again, it installs only what has changed here. PYTHON=python3.12 chooses another interpreter.
set -euo pipefail

if [ $# -ne 1 ]; then
    echo "usage: $0 DIR" >&2
    exit 2
fi
home=$1

# environment NAME PACKAGE...
environment() {
    local venv=$home/$1/venv
    shift
    if [ -f "$venv/installed.txt" ] && [ "$(cat "$venv/installed.txt")" = "$*" ]; then
        echo "$venv: ready"
        return
    fi
    mkdir -p "$(dirname "$venv")"
    [ -x "$venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$venv"
    "$venv/bin/python" -m pip install -q "$@"
    echo "$*" >"$venv/installed.txt"
    echo "$venv: installed $*"
}

# the plain torch.nn.Transformer loops run in this one too
environment hf torch==2.13.0 transformers==5.18.0 sentencepiece

# JoeyNMT imports importlib_metadata without asking for it, and needs a method that newer sentencepiece lacks
environment joeynmt torch==2.13.0 joeynmt==2.3.0 importlib_metadata sentencepiece==0.2.0
