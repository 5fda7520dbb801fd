#!/bin/sh
# Makes .venv with exactly what constraints.txt names, and stamps it last.
#
#   sh tools/setup.sh           check the machine, then make .venv unless its stamp is there
#   sh tools/setup.sh --check   check the machine only
#   sh tools/setup.sh --stamp   print the name of the stamp (the Makefile asks)
#
# PYTHON=python3.12 chooses another Python.  POSIX sh, since Python may be what is missing.
set -eu

cd "$(dirname "$0")/.."
PYTHON=${PYTHON:-python3.11}
NEEDED_KIB=2621440 # .venv takes 1.2 GB, the demo 1 GB

# The place is part of the stamp: a copied .venv would run the programs of where it came from.
stamp() {
    printf '.venv/.stamp-%s\n' "$({ cat constraints.txt pyproject.toml; pwd -P; } | sha256sum | cut -c 1-16)"
}

say() { printf '%s\n' "setup: $*" >&2; }

as_root() { if [ "$(id -u)" -eq 0 ]; then printf '%s' "$*"; else printf '%s' "sudo $*"; fi; }

# Every miss is said before anything ends, so that one round of installing cures them all.
check() {
    misses=0
    if ! "$PYTHON" -c 'import sys' >/dev/null 2>&1; then
        misses=1
        say "$PYTHON was not found; $(as_root apt-get install "$(package)" "$(package)-venv")," \
            "or name another Python from 3.11 on: make demo PYTHON=python3.12"
    elif ! "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        misses=1
        say "$PYTHON is older than Python 3.11;" \
            "$(as_root apt-get install python3.11 python3.11-venv) and leave PYTHON unset"
    else
        for module in venv ensurepip; do
            if ! "$PYTHON" -c "import $module" >/dev/null 2>&1; then
                misses=1
                say "$PYTHON has no module $module; $(as_root apt-get install "$(package)-venv")"
            fi
        done
    fi
    free_kib=$(df -Pk . | awk 'NR == 2 { print $4 }')
    if [ "$free_kib" -lt "$NEEDED_KIB" ]; then
        misses=1
        say "$(pwd) has $((free_kib / 1024)) MiB free, and .venv and the demo take" \
            "$((NEEDED_KIB / 1024)) MiB; free space there, or clone to a larger file system"
    fi
    if [ ! -d /dev/shm ] || [ ! -w /dev/shm ]; then
        say "notice: /dev/shm cannot be written, so only one process makes the input tables;" \
            "$(as_root mount -t tmpfs tmpfs /dev/shm)"
    fi
    if ! compiler; then
        say "notice: no C compiler, so no I/O by role, no --cache none and no answer to what limits;" \
            "$(as_root apt-get install gcc libc6-dev)"
    fi
    return "$misses"
}

# The name of Python's package, as far as it can be told.
package() {
    case ${PYTHON##*/} in
        python3.[0-9]*) printf '%s' "${PYTHON##*/}" ;;
        *) "$PYTHON" -c 'import sys; print("python%d.%d" % sys.version_info[:2])' 2>/dev/null || printf 'python3.11' ;;
    esac
}

compiler() { command -v "${CC:-cc}" >/dev/null 2>&1 || command -v gcc >/dev/null 2>&1; }

# A download that fails is tried once more: mirrors have bad moments.
pip_install() {
    for attempt in first second; do
        if .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-input \
            --constraint constraints.txt "$@"; then
            return 0
        fi
        [ "$attempt" = second ] || say "an installation failed; once more"
    done
    say "the packages of constraints.txt could not be installed; see pip's message above," \
        "check the network and pip's settings, and run make again"
    return 1
}

make_environment() {
    say "making .venv with $PYTHON and the packages of constraints.txt (about a minute)"
    rm -rf .venv
    "$PYTHON" -m venv .venv || return 1
    # mawl is built with the pinned setuptools and nothing else, whatever pip thinks of isolation.
    pip_install setuptools || return 1
    pip_install --no-build-isolation --editable '.[programs,server,storage,cluster,search,development]' || return 1
    : >"$(stamp)"
}

case ${1:-} in
    --stamp) stamp ;;
    --check) check ;;
    "")
        # Two at once would build into one place: the second waits, and finds the stamp.
        if command -v flock >/dev/null 2>&1; then
            exec 9<.
            flock 9
        fi
        [ -e "$(stamp)" ] || { check && make_environment; }
        ;;
    *)
        say "unknown argument $1; give none, --check or --stamp"
        exit 2
        ;;
esac
