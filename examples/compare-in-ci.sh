#!/bin/sh
# A step of a CI job that fails when the runs in AFTER are slower than those in BEFORE.
#
#   sh compare-in-ci.sh BEFORE AFTER
#
# BEFORE and AFTER are directories of five runs each, made with `mawl run --runs DIRECTORY`.
# Exit status: 0 no slowdown is sure, or it is surely less than 5 %; 3 slower; 4 not known (too few runs).
# compare.md is for a comment in the pull request, compare.xml for a CI server that shows test results.
set -eu

mawl compare "$1" "$2" --margin 5 --fail-on slower --junit compare.xml \
    --format markdown --output compare.md
