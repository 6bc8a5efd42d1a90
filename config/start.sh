#!/bin/sh
# Starts the built server so that it keeps little memory: for boards with 1 GB. What is said after the name goes to the server.
#   --max-semi-space-size  what lives for a moment is swept often: 20 to 40 MB less under load
#   --heap-growing-percent what has become garbage is collected once half as much again as is in use has gathered, not
#                          three times as much: 180 to 140 MB under a mixed load
#   MALLOC_…               glibc gives large blocks back at once: a checked password needs 32 MB for a moment, and each thread kept them;
#                          pieces of files (256 KB) stay below, or each would be mapped anew
set -eu
export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-2}" MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_:-300000}" MALLOC_TRIM_THRESHOLD_="${MALLOC_TRIM_THRESHOLD_:-131072}"
# What systemd says to those it starts.
if [ -n "${NOTIFY_SOCKET:-}" ]; then
  export AV_NOTIFY_SOCKET="$NOTIFY_SOCKET" AV_WATCHDOG_USEC="${WATCHDOG_USEC:-0}"
fi
exec node --max-semi-space-size=1 --heap-growing-percent=50 "$(dirname "$0")/../dist/main.js" "$@"
