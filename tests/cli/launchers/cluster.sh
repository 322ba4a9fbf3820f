# shellcheck shell=bash
# A Slurm of four nodes on this machine. Source it:
#
#   . "$HERE/cli/launchers/cluster.sh"
#   has_programs slurmctld slurmd srun munged || exit 0
#   cluster_start "$TMP/slurm" || exit 1   # and cluster_stop, whatever happens

# has_programs NAME...: whether they are installed. Where one is not this is said, and is a failure if
# ASSAY_TEST_LAUNCHERS says so.
has_programs() {
    local name
    for name; do
        PATH=$PATH:/usr/sbin command -v "$name" >/dev/null && continue
        [ "${ASSAY_TEST_LAUNCHERS:-}" != required ] ||
            check "$name is there (ASSAY_TEST_LAUNCHERS=required)" false
        skipped "$name is not installed (scripts/install-deps.sh launchers)"
        return 1
    done
    PATH=$PATH:/usr/sbin
}

# cluster_conf FOLDER PORT: Slurm's settings; the node of four are processes of this machine.
cluster_conf() {
    local host user
    host=$(hostname -s) user=$(id -un)
    cat <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$2
AuthType=auth/munge
AuthInfo=socket=$1/munge.socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_min_interval=10000,bf_interval=1
SelectType=select/cons_tres
StateSaveLocation=$1
SlurmdSpoolDir=$1/%n
SlurmctldPidFile=$1/slurmctld.pid
SlurmdPidFile=$1/%n.pid
SlurmctldLogFile=$1/slurmctld.log
SlurmdLogFile=$1/%n.log
SlurmUser=$user
SlurmdUser=$user
ReturnToService=2
MailProg=/bin/true
NodeName=n[1-4] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$(($2 + 1))-$(($2 + 4))] CPUs=1 RealMemory=100 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
}

cluster_is_idle() { [ "$(sinfo -h -o '%t %D' 2>/dev/null)" = "idle 4" ]; }

# cluster_start FOLDER: until its nodes are idle. Paths of sockets are short.
cluster_start() {
    local folder=$1 port=$((20000 + RANDOM % 2000 * 5)) node
    mkdir -p "$folder/n1" "$folder/n2" "$folder/n3" "$folder/n4"
    cluster_folder=$folder
    (umask 077 && head -c 128 /dev/urandom >"$folder/key")
    cluster_conf "$folder" "$port" >"$folder/slurm.conf"
    export SLURM_CONF=$folder/slurm.conf
    munged --force --num-threads=1 --socket="$folder/munge.socket" --key-file="$folder/key" \
        --pid-file="$folder/munged.pid" --log-file="$folder/munged.log" --seed-file="$folder/seed" || return 1
    slurmctld -c || return 1
    for node in n1 n2 n3 n4; do slurmd -N $node || return 1; done
    wait_for 20 cluster_is_idle
}

# The daemons leave the group of the test's processes, so that nothing else would end them.
cluster_stop() {
    local file pid
    for file in "$cluster_folder"/*.pid; do
        pid=$(cat "$file") && kill "$pid" && wait_for 5 is_gone "$pid" || kill -KILL "$pid"
    done 2>/dev/null
}
