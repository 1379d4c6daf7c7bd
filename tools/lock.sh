#!/usr/bin/env bash
# Write requirements.lock, requirements-fuzz.lock and requirements-live.lock from pyproject.toml: exact versions with hashes, for every platform
# and Python from 3.11 on. The resolver lives in a throw-away environment and is needed by nothing else.
set -euo pipefail
cd "$(dirname "$0")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"${PYTHON:-python3}" -m venv "$scratch/venv"
"$scratch/venv/bin/python" -m pip -qq --disable-pip-version-check install uv

# pin LOCK ARGUMENT…: what already stands in LOCK stays as it is unless UPGRADE is set.
pin() {
    local lock=$1
    shift
    if [ -z "${UPGRADE:-}" ] && [ -f "$lock" ]; then cp "$lock" "$scratch/out"; else : >"$scratch/out"; fi
    "$scratch/venv/bin/uv" --quiet pip compile "$@" \
        --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
        --output-file "$scratch/out" >/dev/null
    { echo "# Written by \`make lock\` from pyproject.toml; do not edit."; cat "$scratch/out"; } >"$lock"
    echo "$lock: $(grep -c '==' "$lock") packages"
}

pin requirements.lock pyproject.toml --extra dev
pin requirements-fuzz.lock --group pyproject.toml:fuzz
# It is installed beside requirements.lock, so what stands there stays.
pin requirements-live.lock --group pyproject.toml:live-demo --constraint requirements.lock
