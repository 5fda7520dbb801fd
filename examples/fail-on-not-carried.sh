#!/bin/sh
# A step of a CI job that fails when this machine does not carry the load.
#
#   WORKLOAD=mixed20 DATA=/mnt/data WORK=/mnt/work UTIL=/mnt/util sh fail-on-not-carried.sh
#
# Exit status: 0 carried, 3 not carried, 4 not known, 1 a job failed.
# mawl.xml has the same as a JUnit file, for a CI server that shows test results.
set -eu

mawl run "${WORKLOAD:-bed}" --cache none \
    --data "${DATA:-mawl-data}" --work "${WORK:-mawl-work}" --util "${UTIL:-mawl-util}" \
    --fail-on not-carried --junit mawl.xml
