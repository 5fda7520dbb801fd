#!/bin/bash
# A run on all nodes of a Slurm allocation: one worker per node, and the run on its first node.
#
#   sbatch slurm.sh
#
# dask and mawl must be in PATH, and the current directory must be shared by all nodes.
#SBATCH --nodes=4 --ntasks-per-node=1 --exclusive
export DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED=False DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL=1s
export DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL=5s DASK_DISTRIBUTED__WORKER__MEMORY__MONITOR_INTERVAL=5s
export DASK_DISTRIBUTED__SCHEDULER__ACTIVE_MEMORY_MANAGER__START=False DASK_DISTRIBUTED__SCHEDULER__WORK_STEALING=False
export DASK_LOGGING__DISTRIBUTED=warning
# Other users reach the ports of Dask, too: only users who can read the key of this job can connect.
KEYS=$PWD/keys-$SLURM_JOB_ID
(umask 077 && mkdir "$KEYS") || exit
trap 'rm -r "$KEYS"' EXIT
openssl req -x509 -newkey rsa:3072 -nodes -days 7 -subj /CN=mawl -keyout "$KEYS/key.pem" -out "$KEYS/cert.pem" \
    2>"$KEYS/openssl.log" || exit
export FILE=$KEYS/scheduler.json DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION=True
export DASK_DISTRIBUTED__COMM__TLS__CA_FILE=$KEYS/cert.pem
for END in SCHEDULER WORKER CLIENT; do
    export DASK_DISTRIBUTED__COMM__TLS__${END}__CERT="$KEYS/cert.pem" DASK_DISTRIBUTED__COMM__TLS__${END}__KEY="$KEYS/key.pem"
done
dask scheduler --host "tls://$(hostname -I | cut -d' ' -f1)" --port 0 --no-dashboard \
    --dashboard-address 127.0.0.1:0 --scheduler-file "$FILE" &
SCHEDULER=$!
srun sh -c 'exec dask worker --scheduler-file $FILE --name $SLURMD_NODENAME --host $(hostname -I | cut -d" " -f1) \
    --no-nanny --nthreads 1 --memory-limit 0 --no-dashboard --dashboard-address 127.0.0.1:0' &
WORKERS=$!
# End the workers before the scheduler: a worker may hang if its scheduler ends while it does.
trap 'kill $WORKERS; wait $WORKERS; kill $SCHEDULER; rm -r "$KEYS"' EXIT
ADDRESS=$(python -c 'import sys, distributed
client = distributed.Client(scheduler_file=sys.argv[1])
client.wait_for_workers(int(sys.argv[2]), timeout=120)
print(client.scheduler.address)' "$FILE" "$SLURM_JOB_NUM_NODES") || exit
mawl run "${WORKLOAD:-mixed20}" --cluster "$ADDRESS" \
    --data "${DATA:-/scratch/data}" --work "${WORK:-/scratch/work}" --util "${UTIL:-/scratch/util}"
