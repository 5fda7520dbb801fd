#!/bin/sh
# Tell a full network from storage at its limit: watch the storage server during a run on several nodes.
#
#   sh storage-node.sh tcp://10.0.0.1:8786 server sdb,sdc 40Gbit
#
# The arguments: the Dask scheduler, the name of the worker on the storage server, its block devices, and what
# the link of a node carries each way. The worker on the storage server runs no jobs.
set -eu

mawl run "${WORKLOAD:-mixed20}" --cluster "$1" --storage-node "$2=$3" --link "$4" \
    --data "${DATA:-/shared/data}" --work "${WORK:-/shared/work}" --util "${UTIL:-/shared/util}"
