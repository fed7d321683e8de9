#!/usr/bin/env bash
# Tests submit.sh on a real Slurm: one node of two CPUs on loopback, in a temporary folder.
#
#     scripts/slurm/test.sh [PATH-TO-DPBI]        default: target/release/dpbi
#
# For a Debian machine, as root; installs slurm-wlm and munge if they are absent. Takes two or
# three minutes. Ends only what it started, and may be run again. Exit status 0: all passed.

set -euo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
DPBI=$(realpath "${1:-$HERE/../../target/release/dpbi}")
FAILURES=0

# shellcheck source-path=SCRIPTDIR source=test_cluster.sh
. "$HERE/test_cluster.sh"

# --- The frame: start, judge, tear down -----------------------------------------------------------

# Runs the command and prints PASS or FAIL with what it shows.
check() {
    local what=$1
    shift
    if "$@"; then
        echo "PASS  $what"
    else
        echo "FAIL  $what"
        FAILURES=$((FAILURES + 1))
    fi
}

die() {
    echo "FAIL  $*" >&2
    exit 1
}

tear_down() {
    local status=$?
    trap - EXIT
    trap '' INT TERM
    if [ "$status" -eq 1 ]; then
        tail -n 10 "$FOLDER"/out*/.shards/*/logs/* 2> /dev/null || true
    fi
    cluster_stop
    rm -rf "$FOLDER"
    case $status in
        0) echo "PASS  all" ;;
        130) echo "stopped" ;;
        *) echo "FAIL  see above" ;;
    esac
    exit "$status"
}

# --- The sweeps -----------------------------------------------------------------------------------

# About half a minute of work in 480 short cells, so that an interruption lands amid them.
write_long_config() {
    cat > "$1" << 'END'
name       = "slurm_test"
title      = "A sweep for the cluster test"
seed       = 1
runs       = 100
prior      = [[1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 7], [1, 3, 5, 8]]
epsilon    = [0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0]
delta      = 1e-8
mechanisms = ["lshist", "ehd", "ehds"]
[data.balanced]
sizes = [200, 240, 280, 320, 360]
END
}

write_short_config() {
    cat > "$1" << 'END'
name       = "slurm_short"
title      = "A sweep of a moment"
seed       = 1
runs       = 10
prior      = [1, 1]
epsilon    = [0.5, 1.0, 2.0]
delta      = 1e-8
mechanisms = ["lshist", "ehd"]
[data.balanced]
sizes = [10, 20]
END
}

# A program that does as COMMANDS say for `run --shard I/…` and is otherwise dpbi.
write_wrapper() {
    local file=$1 shard=$2 commands=$3
    cat > "$file" << END
#!/bin/sh
case "\$*" in run*"--shard $shard/"*) $commands ;; esac
exec "$DPBI" "\$@"
END
    chmod +x "$file"
}

# Submits and sets ARRAY and MERGE to the numbers of the two jobs.
submit() {
    local answer
    answer=$("$HERE/submit.sh" "$@") || return
    ARRAY=$(sed -n 's/^  shards *job \([0-9]*\).*/\1/p' <<< "$answer")
    MERGE=$(sed -n 's/^  merge *job \([0-9]*\).*/\1/p' <<< "$answer")
}

# --- What Slurm says of a job ---------------------------------------------------------------------

# One field of what the controller knows of a job, as JobState or Restarts.
field() {
    scontrol show job --oneliner "$1" | tr ' ' '\n' | sed -n "s/^$2=//p" | head -n 1
}

is() {
    [ "$(field "$1" "$2")" = "$3" ]
}

ended() {
    case $(field "$1" JobState) in
        PENDING | RUNNING | COMPLETING | REQUEUED | CONFIGURING | SUSPENDED) return 1 ;;
    esac
}

# Waits for the job to end, and whether it ended in this state.
ends_as() {
    wait_until 300 ended "$1" && is "$1" JobState "$2"
}

restarted() {
    [ "$(field "$1" Restarts)" -ge 1 ]
}

# --- A shard at work ------------------------------------------------------------------------------

shard_folder() {
    echo "$FOLDER/out/.shards/slurm_test/$1-of-4"
}

shard_log() {
    echo "$FOLDER/out/.shards/slurm_test/logs/job-$ARRAY-shard-$1-of-4.log"
}

# The process of dpbi that runs a shard: not the srun that started it with the same words.
shard_process() {
    local pid
    for pid in $(pgrep --full -- "run .*--out $(shard_folder "$1") "); do
        [ "$(cat "/proc/$pid/comm" 2> /dev/null)" = srun ] || echo "$pid"
    done
}

has_both_attempts() {
    grep -q "attempt 1: interrupted" "$(shard_log "$1")" &&
        grep -q "attempt [2-9]: done" "$(shard_log "$1")"
}

folder_bytes() {
    du --summarize --bytes "$1" 2> /dev/null | cut -f 1
}

runs() {
    [ -n "$(shard_process "$1")" ]
}

grown() {
    [ "$(folder_bytes "$(shard_folder "$1")")" -gt "$2" ]
}

# Waits until the shard is in the midst of its work, with some cells on disk.
wait_half_way() {
    local start
    wait_until 120 runs "$1" || die "shard $1 never started"
    start=$(folder_bytes "$(shard_folder "$1")")
    wait_until 60 grown "$1" "${start:-0}" || die "shard $1 wrote nothing"
    sleep 1
    runs "$1" || die "shard $1 was done before it could be interrupted"
}

# --- The tests ------------------------------------------------------------------------------------

refused() {
    local status=0
    "$HERE/submit.sh" "$@" > "$FOLDER/refusal" 2>&1 || status=$?
    [ "$status" -eq 2 ] && grep -q "^error: " "$FOLDER/refusal"
}

# Checks that submit.sh refuses the arguments.
refuses() {
    local what=$1
    shift
    check "$what is refused" refused --out "$FOLDER/refused" --dpbi "$DPBI" "$@"
}

test_refusals() {
    local config=$FOLDER/long.toml
    sed 's/^epsilon /epsilom /' "$config" > "$FOLDER/typo.toml"
    refuses "a typo in the config" "$FOLDER/typo.toml" --shards 2
    refuses "a missing config" "$FOLDER/none.toml" --shards 2
    refuses "--shards 0" "$config" --shards 0
    refuses "--shards 1.5" "$config" --shards 1.5
    refuses "an unknown option" "$config" --shards 2 --shard 2
    refuses "a bad option of dpbi run" "$config" --shards 2 -- --runs x
    refuses "a missing dpbi" "$config" --shards 2 --dpbi "$FOLDER/none"
    check "nothing was written" test ! -e "$FOLDER/refused"
    refuses "a partition that does not exist" "$config" --shards 2 --partition none
    check "nothing was queued" grep -q "No jobs in the system" <(scontrol show job)
}

same_as_local() {
    diff --recursive --brief --exclude=manifest.json "$FOLDER/local/$1" "$FOLDER/out/$1"
}

# Shard 1 is killed, shard 2 warned as before a time limit, and shard 4 preempted with what runs
# beside it.
test_interruptions() {
    local sweep=("$FOLDER/long.toml" --shards 4 --out "$FOLDER/out" --dpbi "$DPBI" -- --verbose)
    "$DPBI" run "$FOLDER/long.toml" --out "$FOLDER/local" > "$FOLDER/local.log" 2>&1 ||
        die "the local run: $(cat "$FOLDER/local.log")"
    submit "${sweep[@]}" || die "submit.sh failed"
    wait_half_way 1
    kill -KILL "$(shard_process 1)"
    wait_half_way 2
    scancel --signal=TERM "${ARRAY}_2"
    check "a second submission of a queued sweep is refused" refused "${sweep[@]}"
    wait_half_way 4
    srun --quiet --partition=high --ntasks=2 true
    check "the merge ends well" ends_as "$MERGE" COMPLETED
    for shard in 1 2 4; do
        check "shard $shard was interrupted and restarted" restarted "${ARRAY}_$shard"
        check "its log has both attempts" has_both_attempts "$shard"
        check "it kept the cells of the first" grep -q ": kept, since" "$(shard_log "$shard")"
    done
    check "the result equals a local run's, byte for byte" same_as_local slurm_test
    test_same_again "${sweep[@]}"
}

test_same_again() {
    submit "$@" || die "submit.sh failed the second time"
    check "the same command again ends well" ends_as "$MERGE" COMPLETED
    check "its result is the same" same_as_local slurm_test
}

# Queues the short sweep as two shards with a program that does COMMANDS for shard 1.
submit_wrapped() {
    local out=$FOLDER/out-$1 commands=$2
    write_wrapper "$FOLDER/wrapped-$1" 1 "$commands"
    submit "$FOLDER/short.toml" --shards 2 --out "$out" --dpbi "$FOLDER/wrapped-$1" \
        -- --format none || die "submit.sh failed"
    LOG=$out/.shards/slurm_short/logs/job-$ARRAY-shard-1-of-2.log
}

test_failure() {
    submit_wrapped failing "echo no such luck >&2; exit 1"
    check "a failed shard ends the merge" ends_as "$MERGE" CANCELLED
    check "it is not queued again" is "${ARRAY}_1" Restarts 0
    check "its state is FAILED" is "${ARRAY}_1" JobState FAILED
    check "its log is kept" grep -q "no such luck" "$LOG"
    check "the other shard is done" ends_as "${ARRAY}_2" COMPLETED
    submit "$FOLDER/short.toml" --shards 2 --out "$FOLDER/out-failing" --dpbi "$DPBI" \
        --remove-shards -- --format none || die "submit.sh failed"
    check "mended and submitted again, the sweep is merged" ends_as "$MERGE" COMPLETED
    check "--remove-shards removes the shards" test ! -e "${LOG%/logs/*}/1-of-2"
    check "and keeps their logs" test -e "$LOG"
}

test_cancellation() {
    submit_wrapped cancelled 'trap "exit 130" TERM; echo waiting; sleep 60 & wait'
    wait_until 30 grep -qs waiting "$LOG" || die "shard 1 never started"
    scancel "${ARRAY}_1"
    check "a cancelled shard ends the merge" ends_as "$MERGE" CANCELLED
    check "its state is CANCELLED" is "${ARRAY}_1" JobState CANCELLED
    check "it is not queued again" is "${ARRAY}_1" Restarts 0
}

test_stall() {
    submit_wrapped stalled "exit 130"
    check "a shard that gets nowhere is not queued for ever" ends_as "$MERGE" CANCELLED
    check "it was tried three times" is "${ARRAY}_1" Restarts 2
    check "its log says why" grep -q "no cell finished in 3 attempts" "$LOG"
}

main() {
    [ "$(id -u)" -eq 0 ] || die "this test starts slurmd: run it as root"
    [ -x "$DPBI" ] || die "no program at $DPBI: cargo build --release, or name another"
    FOLDER=$(mktemp --directory)
    trap tear_down EXIT
    trap 'exit 130' INT TERM
    cluster_install || die "cannot install slurm-wlm and munge"
    mkdir "$FOLDER/cluster"
    cluster_start "$FOLDER/cluster" || {
        cluster_logs "$FOLDER/cluster"
        die "the cluster did not come up"
    }
    echo "a Slurm of one node runs in $FOLDER"
    write_long_config "$FOLDER/long.toml"
    write_short_config "$FOLDER/short.toml"
    test_refusals
    test_interruptions
    test_failure
    test_cancellation
    test_stall
    [ "$FAILURES" -eq 0 ]
}

main "$@"
