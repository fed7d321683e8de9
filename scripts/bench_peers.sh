#!/bin/sh
# dpbi and the same experiment with NumPy side by side: best times in turn, and their ratios.
#
#     scripts/bench_peers.sh [--quick]
#
# Builds what it measures. Takes two or three minutes (--quick: half a minute, noisier); close other
# programs first.

cd "$(dirname "$0")/.." || exit 1

if ! command -v python3 > /dev/null; then
    echo "error: python3 is missing; install it (Debian: apt install python3), then NumPy and SciPy" >&2
    exit 2
fi
for module in numpy scipy; do
    if ! python3 -c "import $module" 2> /dev/null; then
        echo "error: python3 has no module $module; install it with" >&2
        echo "           python3 -m pip install numpy scipy" >&2
        echo "       (Debian: apt install python3-numpy python3-scipy)" >&2
        exit 2
    fi
done
if ! command -v cargo > /dev/null; then
    echo "error: cargo is missing; install Rust (https://rustup.rs)" >&2
    exit 2
fi

exec python3 scripts/bench_peers.py "$@"
