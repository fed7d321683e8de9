#!/usr/bin/env bash
# Queues a sweep as a Slurm job array, one task for each shard, and a job that merges the shards
# when all are done. `submit.sh --help` says how; README.md says what happens then.

set -euo pipefail

usage() {
    cat << 'END'
Run a dpbi sweep on a Slurm cluster: a job array of shards, then a job that merges them

Usage: submit.sh CONFIG --shards N [OPTIONS] [-- OPTIONS OF dpbi run]

Options:
  --shards N       Parts to divide the sweep into, one task of the array each
  --out DIR        The folder for results, on a disk that all nodes see [default: results]
  --dpbi PATH      The program [default: dpbi on the PATH, else target/release/dpbi here]
  --partition P    The partition [default: the cluster's]
  --time T         The time limit of a shard and of the merge, as for sbatch; a shard that reaches
                   it is queued again and continues [default: the partition's]
  --cpus C         CPUs, and threads, of a shard and of the merge [default: 1]
  --mem M          Memory of a shard and of the merge, as for sbatch [default: the cluster's]
  --remove-shards  Remove the shards' folders after the merge (a later submission of the same sweep
                   then starts over) [default: keep them]
  -h, --help       Print help

The result is DIR/<name>/, the same bytes as `dpbi run CONFIG --out DIR` (but for manifest.json).
The shards work in DIR/.shards/<name>/<i>-of-<N>/; the logs are in DIR/.shards/<name>/logs/.
The same command again continues: what is finished is kept.

Example:
  scripts/slurm/submit.sh configs/sweep.toml --shards 8 --time 4:00:00 --cpus 4 -- --runs 10000
END
}

# One message with its remedy; nothing is queued.
refuse() {
    echo "error: $1" >&2
    [ $# -lt 2 ] || echo "  help: $2" >&2
    exit 2
}

# Sets the variables below from the command line.
CONFIG="" SHARDS="" OUT=results DPBI="" CPUS=1 KEEP=keep
LIMITS=()      # options for sbatch of both jobs
RUN_OPTIONS=() # options for dpbi run
read_options() {
    while [ $# -gt 0 ]; do
        case $1 in
            -h | --help) usage && exit 0 ;;
            --remove-shards) KEEP=remove && shift && continue ;;
            --) shift && RUN_OPTIONS=("$@") && return ;;
            --shards | --out | --dpbi | --partition | --time | --cpus | --mem) ;;
            -*) refuse "unknown option $1" "options of dpbi run come after --; see --help" ;;
            *)
                [ -z "$CONFIG" ] || refuse "two configs: $CONFIG and $1" "submit them one by one"
                CONFIG=$1 && shift && continue
                ;;
        esac
        [ $# -ge 2 ] || refuse "$1 needs a value"
        case $1 in
            --shards) SHARDS=$2 ;;
            --out) OUT=$2 ;;
            --dpbi) DPBI=$2 ;;
            --cpus) CPUS=$2 ;;
            *) LIMITS+=("$1=$2") ;;
        esac
        shift 2
    done
}

whole_number() {
    [[ $1 =~ ^[1-9][0-9]{0,5}$ ]]
}

check_options() {
    local option
    [ -n "$CONFIG" ] || refuse "no config is given" "submit.sh CONFIG --shards N"
    if [ ! -f "$CONFIG" ] || [ ! -r "$CONFIG" ]; then
        refuse "cannot read the config $CONFIG" "name a file (bundled configs are in configs/)"
    fi
    [ -n "$SHARDS" ] || refuse "--shards is missing" "submit.sh $CONFIG --shards 8"
    whole_number "$SHARDS" || refuse "--shards $SHARDS is not a whole number from 1"
    whole_number "$CPUS" || refuse "--cpus $CPUS is not a whole number from 1"
    for option in "${RUN_OPTIONS[@]}"; do
        case $option in
            --out | --out=* | --shard | --shard=*) refuse "$option is set by submit.sh" ;;
            --threads | --threads=*) refuse "$option is set by --cpus of submit.sh" ;;
            # Each attempt of a shard would throw away what the last one did.
            --fresh) refuse "--fresh would start over at each requeue" "remove the old shards" ;;
        esac
    done
    command -v sbatch > /dev/null ||
        refuse "sbatch is missing: this is not a machine of a Slurm cluster" "dpbi run runs it here"
}

find_dpbi() {
    local repository
    repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
    if [ -z "$DPBI" ]; then
        DPBI=$(command -v dpbi || echo "$repository/target/release/dpbi")
    fi
    if [ ! -f "$DPBI" ] || [ ! -x "$DPBI" ]; then
        refuse "no program dpbi at $DPBI" "cargo build --release, or name it with --dpbi PATH"
    fi
}

# What `dpbi check` takes of the options for `dpbi run`: all but those that only change the output.
options_to_check() {
    local option
    for option in "${RUN_OPTIONS[@]}"; do
        case $option in
            -v | --verbose | -q | --quiet | --json) ;;
            *) printf '%s\0' "$option" ;;
        esac
    done
}

# A typo is told here, in a second, and not in eight logs tomorrow.
check_config() {
    local options=() described
    mapfile -d '' options < <(options_to_check)
    described=$("$DPBI" check "$CONFIG" --json "${options[@]}") || exit 2
    NAME=$(sed -n '/"name":/{s/.*"name": *"\([^"]*\)".*/\1/p;q}' <<< "$described")
    [ -n "$NAME" ] || refuse "$DPBI check $CONFIG --json gives no name"
}

# Jobs start in other folders and on other nodes: every path is made absolute.
make_folders() {
    CONFIG=$(realpath "$CONFIG")
    DPBI=$(realpath "$DPBI")
    OUT=$(realpath --canonicalize-missing "$OUT")
    SWEEP=$OUT/.shards/$NAME
    LOGS=$SWEEP/logs
    mkdir -p "$LOGS" || refuse "cannot write to $OUT" "name another folder with --out"
}

# Two submissions of one sweep would work in the same folders.
refuse_if_queued() {
    local jobs
    [ -f "$SWEEP/jobs" ] || return 0
    jobs=$(< "$SWEEP/jobs")
    [ -z "$(squeue --noheader --user="$(id -un)" --jobs="$jobs" 2> /dev/null)" ] ||
        refuse "$NAME is already queued as jobs $jobs" "wait, or cancel it: scancel ${jobs/,/ }"
}

# The options --format and --width of dpbi run, if they are given: shards have no figures, the merge
# draws them.
figure_options() {
    local i
    for i in "${!RUN_OPTIONS[@]}"; do
        case ${RUN_OPTIONS[i]} in
            --format | --width) echo "${RUN_OPTIONS[i]}=${RUN_OPTIONS[i + 1]}" ;;
            --format=* | --width=*) echo "${RUN_OPTIONS[i]}" ;;
        esac
    done
}

# Queues one job with what both have in common and prints its number. A % in the path of a log
# would be read as a pattern of sbatch.
queue() {
    local log=$1 answer
    shift
    answer=$(sbatch --parsable --output="${LOGS//%/%%}/$log" \
        --cpus-per-task="$CPUS" "${LIMITS[@]}" "$@") || return
    echo "${answer%%;*}"
}

submit() {
    local here figures
    mapfile -t figures < <(figure_options)
    here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
    # A shard that starts later refuses to run if one of these has changed meanwhile.
    sha256sum "$CONFIG" "$DPBI" > "$SWEEP/submitted.sha256"
    ARRAY=$(queue "job-%A-shard-%a-of-$SHARDS.log" --job-name="dpbi-$NAME" \
        --array="1-$SHARDS" \
        "$here/shard.sh" "$DPBI" "$CONFIG" "$SWEEP" "$SHARDS" "${RUN_OPTIONS[@]}") ||
        refuse "the shards could not be queued (see above)"
    if ! MERGE=$(queue "job-%j-merge.log" --job-name="dpbi-$NAME-merge" \
        --dependency="afterok:$ARRAY" --kill-on-invalid-dep=yes \
        "$here/merge.sh" "$DPBI" "$OUT" "$NAME" "$SHARDS" "$KEEP" "${figures[@]}"); then
        scancel "$ARRAY"
        refuse "the merge could not be queued (see above); job $ARRAY, the shards, is cancelled"
    fi
    echo "$ARRAY,$MERGE" > "$SWEEP/jobs"
}

report() {
    cat << END
queued $NAME in $SHARDS shards
  shards    job $ARRAY, tasks 1-$SHARDS, in $SWEEP/<i>-of-$SHARDS/
  merge     job $MERGE, when every shard is done, to $OUT/$NAME/
  logs      $LOGS/job-$ARRAY-shard-<i>-of-$SHARDS.log
            $LOGS/job-$MERGE-merge.log
  watch     squeue --jobs=$ARRAY,$MERGE
  cancel    scancel $ARRAY $MERGE
  continue  the same command again, once these jobs have ended: finished cells are kept
END
}

read_options "$@"
check_options
find_dpbi
check_config
make_folders
refuse_if_queued
submit
report
