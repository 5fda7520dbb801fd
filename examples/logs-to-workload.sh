#!/bin/sh
# From the SAS logs of a night to a run of the same load, next to the logs, and to the answer whether the night
# is held.
#
#   DATA=/new/data WORK=/new/work UTIL=/new/util sh logs-to-workload.sh logs/ 2026-03-02T20:00/06:00 Europe/Berlin
#
# The run takes as long as the night. shop/ holds the workload, and shop/evidence.html how sure each number is.
set -eu
logs=$1 night=$2 zone=$3

mawl derive "$logs" --night "$night" --timezone "$zone" --output shop
mawl run shop/workload.toml --cache none --output night \
    --data "${DATA:-mawl-data}" --work "${WORK:-mawl-work}" --util "${UTIL:-mawl-util}"
mawl import "$logs" --timezone "$zone" --output logs-run
mawl compare logs-run night
mawl report night --format night
