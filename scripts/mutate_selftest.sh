#!/usr/bin/env bash
# Is `dpbi selftest` able to fail? Builds copies of the source with one deliberate fault each, mostly a
# scale that is wrong by 5 %, and expects the self-test to end with status 3 and to say why. The copy
# without a fault must pass.
#
#   scripts/mutate_selftest.sh [NAME…]      all faults, or those named
#
# Not part of CI: every fault is a build of the crate (development profile, incremental) and a run of
# half a minute. KEEP names a folder for the copy and its builds that is not removed at the end, so that
# another run need not build the dependencies again.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -n "${KEEP:-}" ]; then
    mkdir -p "$KEEP"
    work=$(cd "$KEEP" && pwd)
else
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi
source=$work/source
export CARGO_TARGET_DIR=$work/target

# name | file | what is replaced | by what | on how many lines | what the self-test must say
faults=(
    "noise|src/engine/mechanism/law/exponential_steps.rs|exp_accurate(-f64::from(m) / scale)|exp_accurate(-f64::from(m) / (1.05 * scale))|1|geometric .*does not follow its exact law"
    "exponential|src/engine/numeric/kernel.rs|exp_nonpositive(-rate \*|exp_nonpositive(-rate / 1.05 *|2|ehds .*does not follow its exact law"
    "hamming|src/engine/mechanism/law/hamming.rs|exp_accurate(-0.5 \* self.rate|exp_accurate(-0.5 / 1.05 * self.rate|1|hamming .*does not follow its exact law"
    "remap|src/engine/mechanism/law/remapped.rs|out.copy_from_slice(.released);|drop(released);|1|remap .*does not follow its exact law"
    "release|src/service/release/method.rs|Ratio::new(numerator, denominator)|Ratio::new(numerator * 20, denominator * 21)|1|release geometric .*does not follow its exact law"
    "coin|src/service/release/discrete.rs|uniform_below(b \* k, rng)|uniform_below(b * (k + k / 3), rng)|1|release .*does not follow its exact law"
)

# What an interrupted build of a fault has left behind must not get into a sound one.
copy() {
    rm -rf "$source" "$CARGO_TARGET_DIR/debug/incremental"
    mkdir -p "$source"
    git ls-files -z -- Cargo.toml Cargo.lock build.rs src configs data benches |
        xargs -0 cp --parents -t "$source"
}

# Builds the copy and runs the self-test; its status is in $status, what it said in $work/said.
selftest() {
    if ! (cd "$source" && cargo build --quiet --bin dpbi) 2>"$work/build"; then
        cat "$work/build" >&2
        echo "FAILED: the copy does not build" >&2
        exit 1
    fi
    status=0
    "$CARGO_TARGET_DIR/debug/dpbi" selftest --seed 1 >"$work/said" 2>&1 || status=$?
}

# Puts one fault into the copy, or fails loudly if the source is no longer as it was.
break_it() {
    local file=$source/$1
    cp "$file" "$work/sound"
    sed -i "s#$2#$3#" "$file"
    local changed
    changed=$(diff "$work/sound" "$file" | grep -c '^>' || true)
    if [ "$changed" != "$4" ]; then
        echo "FAILED: the fault in $1 changes $changed lines instead of $4: adapt the pattern in $0" >&2
        exit 1
    fi
}

copy
selftest
if [ "$status" != 0 ]; then
    echo "FAILED: the sound copy ends with status $status:" >&2
    cat "$work/said" >&2
    exit 1
fi
echo "sound: status 0, $(tail -n 1 "$work/said")"

failures=0
for fault in "${faults[@]}"; do
    IFS='|' read -r name file old new lines says <<<"$fault"
    if [ $# -gt 0 ] && [[ " $* " != *" $name "* ]]; then
        continue
    fi
    break_it "$file" "$old" "$new" "$lines"
    selftest
    if [ "$status" = 3 ] && grep -q "$says" "$work/said"; then
        echo "$name: status 3, $(grep -m 1 -o "$says.*" "$work/said" | cut -c 1-150)"
    else
        echo "FAILED: $name ends with status $status and this:" >&2
        cat "$work/said" >&2
        failures=$((failures + 1))
    fi
    # A new time, so that cargo sees the change back.
    cp "$work/sound" "$source/$file"
done
exit $((failures > 0))
