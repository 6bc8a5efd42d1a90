"""Reads a feed with podcastparser, with which gPodder reads feeds, and prints what it has understood."""

import json
import sys
import urllib.request

import podcastparser

address = sys.argv[1]
with urllib.request.urlopen(address) as answer:
    feed = podcastparser.parse(address, answer)
print(json.dumps(feed))
