# shellcheck shell=bash
# A Slurm of one node on loopback, for test.sh, which sources this file: cluster_start FOLDER,
# cluster_stop. Its key, socket, ports, state and logs are its own, so that a Slurm or a munge that
# already runs on the machine neither notices it nor is touched.

CLUSTER_PIDS=()

# Installs the programs that the cluster needs, if they are absent.
cluster_install() {
    local program missing=""
    for program in slurmctld slurmd sbatch munged mungekey pgrep; do
        command -v "$program" > /dev/null || missing+=" $program"
    done
    [ -n "$missing" ] || return 0
    echo "installing slurm-wlm, munge and procps with apt-get (missing:$missing)"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends slurm-wlm munge procps > /dev/null
}

# A port on loopback that nobody listens on.
free_port() {
    local port
    while :; do
        port=$((20000 + RANDOM % 12000))
        (: < "/dev/tcp/127.0.0.1/$port") 2> /dev/null || break
    done
    echo "$port"
}

# Whether the installed Slurm is of this version or a later one.
slurm_is_from() {
    local installed
    installed=$(slurmd -V | tr -dc '0-9.')
    printf '%s\n' "$1" "$installed" | sort --check=quiet --version-sort
}

# Root runs everything: nothing needs the users that the packages make.
#
# - Two partitions: jobs of `high` preempt those of `low` by requeueing them.
# - cred_expire is how long a requeued job must wait; its default is two minutes.
# - Two CPUs whatever the machine has (config_overrides), so that the test is the same everywhere.
cluster_configure() {
    local folder=$1 controller node
    controller=$(free_port)
    node=$(free_port)
    mkdir -p "$folder"/{state,spool,log}
    cat > "$folder/slurm.conf" << END
ClusterName=dpbi-test
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$controller
SlurmdPort=$node
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket,cred_expire=5
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=2,sched_interval=2
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
KillWait=10
MinJobAge=3600
MailProg=/bin/true
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=/dev/null
SlurmdLogFile=/dev/null
NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=low Nodes=ALL Default=YES PriorityTier=1 MaxTime=INFINITE State=UP
PartitionName=high Nodes=ALL PriorityTier=2 MaxTime=INFINITE State=UP
END
    # Newer versions of slurmd want a cgroup of their own even if nothing uses it, unless told not
    # to; older ones do not know the word.
    ! slurm_is_from 23.11 || echo "CgroupPlugin=disabled" > "$folder/cgroup.conf"
    # What a surrounding cluster or its user set is not meant for this one.
    unset "${!SLURM_@}" "${!SBATCH_@}" "${!SRUN_@}" "${!SQUEUE_@}" "${!SCANCEL_@}" "${!SINFO_@}"
    export SLURM_CONF=$folder/slurm.conf
}

# Starts a daemon in the background, which logs to standard error, and remembers its process:
# nothing else is ended later. In a session of its own, since a Ctrl-C is for the test, which then
# stops the daemons in order.
cluster_daemon() {
    local log=$1
    shift
    setsid "$@" > "$log" 2>&1 &
    CLUSTER_PIDS+=("$!")
}

# Waits up to SECONDS until the command succeeds.
wait_until() {
    local seconds=$1 end
    shift
    end=$((SECONDS + seconds))
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.2
    done
}

node_idle() {
    [ "$(sinfo --noheader --format=%T --partition=low 2> /dev/null)" = idle ]
}

cluster_start() {
    local folder=$1
    cluster_configure "$folder"
    chmod 755 "$folder"
    mungekey --create --keyfile "$folder/munge.key"
    # --force: root may run munged, below a folder (/tmp) that others may write to.
    cluster_daemon "$folder/log/munged.log" munged --foreground --force \
        --key-file "$folder/munge.key" --socket "$folder/munge.socket" \
        --pid-file "$folder/munged.pid" --seed-file "$folder/munged.seed"
    wait_until 10 test -S "$folder/munge.socket" || return 1
    cluster_daemon "$folder/log/slurmctld.log" slurmctld -D
    cluster_daemon "$folder/log/slurmd.log" slurmd -D
    wait_until 60 node_idle
}

cluster_logs() {
    tail -n 30 "$1"/log/*
}

nothing_queued() {
    [ -z "$(squeue --noheader 2> /dev/null)" ]
}

# Ends the jobs first, so that no step outlives its slurmd, then the daemons, last started first.
cluster_stop() {
    local index pid
    [ "${#CLUSTER_PIDS[@]}" -gt 0 ] || return 0
    timeout 10 scancel --user=root 2> /dev/null || true
    wait_until 20 nothing_queued || true
    for ((index = ${#CLUSTER_PIDS[@]} - 1; index >= 0; index--)); do
        pid=${CLUSTER_PIDS[index]}
        kill "$pid" 2> /dev/null || true
        wait "$pid" 2> /dev/null || true
    done
    CLUSTER_PIDS=()
}
