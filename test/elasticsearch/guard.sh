#!/bin/sh
# Ends a node whose owner is gone, however that went: guard.sh <pid of the owner> <pid of the node> <folder of the node>
while kill -0 "$2" 2>/dev/null; do
  if ! kill -0 "$1" 2>/dev/null; then
    kill -9 "$2"
    sleep 1
    case $3 in */av-elasticsearch-*) rm -rf "$3" ;; esac
    exit
  fi
  sleep 2
done
