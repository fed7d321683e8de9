#!/usr/bin/env bash
#SBATCH --ntasks=1
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=TERM@60
#
# One task of the job array that submit.sh queues: runs shard I of N in SWEEP/I-of-N/.
#
#     shard.sh DPBI CONFIG SWEEP N [OPTIONS OF dpbi run]
#
# dpbi runs as a job step (srun), because steps, and not batch scripts, get the warning before the
# time limit (--signal above) and the one at the start of a preemption's grace time. It then stops
# at the next cell with exit status 130, and the task queues itself again, to continue from the
# cells on disk.

set -euo pipefail

DPBI=$1 CONFIG=$2 SWEEP=$3 SHARDS=$4
shift 4
SHARD=$SLURM_ARRAY_TASK_ID
FOLDER=$SWEEP/$SHARD-of-$SHARDS
# The number of the array and of the task: the job's own number would mean, for one of the tasks,
# the whole array.
TASK=${SLURM_ARRAY_JOB_ID}_$SHARD
ATTEMPT=$((${SLURM_RESTART_COUNT:-0} + 1))

# A task does not queue itself again after so many attempts in a row without a finished cell (its
# cells take longer than the time limit, or it lacks memory), nor after so many in all.
MAX_STALLED=3
MAX_ATTEMPTS=200

say() {
    echo "== $(date '+%F %T') shard $SHARD/$SHARDS, attempt $ATTEMPT: $*"
}

fail() {
    say "$2"
    exit "$1"
}

# Shards of different configs or programs cannot be merged, which is better known now than then.
refuse_if_changed() {
    sha256sum --check --quiet "$SWEEP/submitted.sha256" ||
        fail 2 "the config or dpbi changed after it was submitted: submit again"
}

# Bytes of cells so far; a manifest's size changes with its times alone.
bytes_done() {
    find "$FOLDER" -type f ! -name '*manifest.json*' -printf '%s\n' |
        awk '{ sum += $1 } END { print sum + 0 }'
}

# How many attempts in a row, this one included, have not added to the bytes that it started with.
count_stalled() {
    local stalled=0
    if [ "$(bytes_done)" -gt "$1" ]; then
        rm -f "$FOLDER.stalled"
    else
        [ "$ATTEMPT" -eq 1 ] || stalled=$(cat "$FOLDER.stalled" 2> /dev/null || echo 0)
        stalled=$((stalled + 1))
        echo "$stalled" > "$FOLDER.stalled"
    fi
    echo "$stalled"
}

# Whether it is for this task to queue itself again. Still running: dpbi was only warned, or killed.
# Ended by the time limit or by a preemption that cancels: Slurm leaves it at that. In every other
# case the controller has already decided: cancelled by its user, or requeued by Slurm itself.
ours_to_requeue() {
    local job
    job=$(scontrol show job --oneliner "$TASK") || return 1
    case " $job " in
        *" JobState=RUNNING "* | *" Reason=TimeLimit "*) return 0 ;;
        *" PreemptTime=None "*) return 1 ;;
        *" PreemptTime="*) return 0 ;;
    esac
    return 1
}

requeue() {
    local before=$1 status=$2 stalled
    ours_to_requeue || fail "$status" "interrupted: cancelled, or requeued by Slurm; cells are kept"
    stalled=$(count_stalled "$before")
    [ "$stalled" -lt "$MAX_STALLED" ] || fail "$status" \
        "interrupted, no cell finished in $stalled attempts: raise --time or --mem, and resubmit"
    [ "$ATTEMPT" -lt "$MAX_ATTEMPTS" ] ||
        fail "$status" "interrupted for the ${ATTEMPT}th time: resubmit if it should go on"
    say "interrupted (status $status), queued again"
    scontrol requeue "$TASK" || fail "$status" "it could not be queued again: resubmit"
}

main() {
    local before status=0
    # When a job is ended, so are all processes of its script, but this one must live on to see how
    # dpbi ended, and the scontrol that it then asks.
    trap '' TERM
    mkdir -p "$FOLDER"
    before=$(bytes_done)
    say "job $TASK on $(hostname), ${SLURM_CPUS_PER_TASK:-1} threads"
    refuse_if_changed
    srun --ntasks=1 --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" \
        "$DPBI" run "$CONFIG" --shard "$SHARD/$SHARDS" --out "$FOLDER" \
        --threads "${SLURM_CPUS_PER_TASK:-1}" "$@" || status=$?
    case $status in
        0) say "done" ;;
        # Stopped at a cell; killed (by hand, or for want of memory); stopped by a second signal.
        130 | 137 | 143) requeue "$before" "$status" ;;
        *) fail "$status" "failed with status $status: not queued again; mend it and resubmit" ;;
    esac
}

main "$@"
