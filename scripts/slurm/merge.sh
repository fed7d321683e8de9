#!/usr/bin/env bash
#SBATCH --ntasks=1
#SBATCH --requeue
#SBATCH --open-mode=append
#
# The job that submit.sh queues behind the array: joins SHARDS finished shards to OUT/NAME/.
#
#     merge.sh DPBI OUT NAME SHARDS keep|remove [OPTIONS OF dpbi merge]
#
# It may be ended and started again at any moment: dpbi puts a result in place only when it is
# whole, and the shards are removed only after that.

set -euo pipefail

DPBI=$1 OUT=$2 NAME=$3 SHARDS=$4 KEEP=$5
shift 5

FOLDERS=()
for ((i = 1; i <= SHARDS; i++)); do
    FOLDERS+=("$OUT/.shards/$NAME/$i-of-$SHARDS")
done

echo "== $(date '+%F %T') merging $SHARDS shards of $NAME on $(hostname)"
"$DPBI" merge "${FOLDERS[@]/%//$NAME}" --out "$OUT" --threads "${SLURM_CPUS_PER_TASK:-1}" "$@"
if [ "$KEEP" = remove ]; then
    rm -rf -- "${FOLDERS[@]}"
fi
echo "== $(date '+%F %T') done: $OUT/$NAME"
