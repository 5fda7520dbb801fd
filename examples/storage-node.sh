#!/bin/sh
# Tell a full network from storage at its limit: watch the storage server during a run on several nodes.
#
#   CERT=cert.pem KEY=key.pem sh storage-node.sh tls://10.0.0.1:8786 server sdb,sdc 40Gbit
#
# The arguments: the Dask scheduler, the name of the worker on the storage server, its block devices, and what
# the link of a node carries each way. The worker on the storage server runs no jobs.
# CERT and KEY: the certificate of the run and its key, in PEM form; leave them out on a loopback address.
set -eu

mawl run "${WORKLOAD:-mixed20}" --cluster "$1" ${CERT:+--tls-ca "$CERT" --tls-cert "$CERT" --tls-key "$KEY"} \
    --storage-node "$2=$3" --link "$4" \
    --data "${DATA:-/shared/data}" --work "${WORK:-/shared/work}" --util "${UTIL:-/shared/util}"
