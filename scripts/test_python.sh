#!/usr/bin/env bash
# Builds the package for Python, and runs its tests and the steps of the guide's page about it. Without Python 3.9 or
# later nothing is tested. What tests need comes from PyPI into a virtual environment of its own.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))'; then
    echo "skipped: $python is not Python 3.9 or later"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/venv"
export PATH="$work/venv/bin:$PATH"
pip install -q --disable-pip-version-check 'maturin>=1.7,<2' numpy matplotlib mypy pandas pytest
# The crates are those that the tests of the program have compiled.
pip install -q --disable-pip-version-check --no-build-isolation --no-deps ./python \
    --config-settings=build-args="--profile dev --locked"
cargo build --locked
DPBI=${CARGO_TARGET_DIR:-$PWD/target}/debug/dpbi pytest -q python/tests
