#!/bin/sh
# Collects settings of this machine for `mawl tune check --from DIR` (platform: PLATFORM).
# It only reads: each command below prints something, and its output goes to a file of DIR.
# Usage: sh collect.sh [DIR]     Run it as root: some settings are not shown to others.
set -u
LC_ALL=C
PATH=$PATH:/usr/sbin:/sbin:/usr/ios/cli:/usr/lpp/mmfs/bin
export LC_ALL PATH
node=$(uname -n)
dir=${1:-mawl-PLATFORM-$node}
umask 077
mkdir "$dir" || exit 1

# ask COMMAND...: what it prints, between a line with its name and one with its exit status
ask() {
    file=$(printf '%s' "$*" | tr -c 'A-Za-z0-9.\n-' '_')
    {
        printf '### mawl %s PLATFORM: %s\n' "$node" "$*"
        "$@" </dev/null 2>&1
        status=$?
        printf '\n### mawl exit %s\n' "$status"
    } >"$dir/$file.txt"
}

