#!/usr/bin/env python3
"""Small libraries of other programs, each with its database, side files and traps, and what must be found in it.

    python3 make.py TARGET [--only name[,name]] [--check]

Writes TARGET/<name>/... and TARGET/<name>/expected.json. Standard library and ffmpeg. Everything is the same on each run
(fixed ids, fixed times), except inode numbers, the -wal of pinchflat and the tar.gz of youtarr.
"""
import argparse, json, os, shutil, subprocess, sys
from pathlib import Path

from common import make_clips
from exports import exports
from metube import metube
from pinchflat import pinchflat
from tubearchivist import tubearchivist_v04, tubearchivist_v05
from tubesync import tubesync
from youtarr import youtarr
from youtubedl_material import youtubedl_material
from yt_dlp import yt_dlp
from ytdl_sub import ytdl_sub

FIXTURES = {'tubearchivist-v05': tubearchivist_v05, 'tubearchivist-v04': tubearchivist_v04, 'pinchflat': pinchflat, 'tubesync': tubesync, 'ytdl-sub': ytdl_sub, 'youtarr': youtarr, 'metube': metube,
            'youtubedl-material': youtubedl_material, 'yt-dlp': yt_dlp, 'exports': exports}


# ---------------------------------------------------------------- --check: are the fixtures what they say?
def check(base):
    expected = json.loads((base / 'expected.json').read_text())
    faults = []
    probe = shutil.which('ffprobe')
    for one in expected['videos']:
        path = base / one['file']
        if not path.is_file():
            faults.append(f"{one['id']}: no file {one['file']}")
            continue
        for key in ('info', 'thumbnail', 'nfo'):
            if key in one and not (base / one[key]).is_file():
                faults.append(f"{one['id']}: no {key} {one[key]}")
        for sub in one['subtitles']:
            if not (base / sub['file']).is_file():
                faults.append(f"{one['id']}: no subtitle {sub['file']}")
        if probe:
            told = subprocess.run([probe, '-v', 'error', '-show_entries', 'format=duration', '-of', 'csv=p=0', 'file:' + str(path)], capture_output=True, text=True)
            if told.returncode or abs(float(told.stdout or 0) - one['duration']) > 0.4:
                faults.append(f"{one['id']}: ffprobe says {told.stdout.strip() or told.stderr.strip()[:80]}, not {one['duration']} s")
    for problem in expected['problems']:
        name = bytes.fromhex(problem['file_hex']) if 'file_hex' in problem else os.fsencode(problem.get('file', ''))
        if name and not os.path.lexists(os.fsencode(base) + b'/' + name):
            faults.append(f"problem {problem['code']}: no file {name!r}")
    ids = [one['id'] for one in expected['videos']]
    faults += [f'{id} is expected twice' for id in {id for id in ids if ids.count(id) > 1}]
    return len(ids), len(expected['problems']), faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('target', type=Path)
    parser.add_argument('--only', default=','.join(FIXTURES), help='names, separated by commas: ' + ', '.join(FIXTURES))
    parser.add_argument('--check', action='store_true', help='look whether the fixtures are what expected.json says')
    args = parser.parse_args()
    target, only = args.target.resolve(), args.only.split(',')
    target.mkdir(parents=True, exist_ok=True)
    work = target / '.work'
    work.mkdir(exist_ok=True)
    make_clips(work)
    shutil.rmtree(work)
    bad = 0
    for name in only:
        base = target / name
        shutil.rmtree(base, ignore_errors=True)
        base.mkdir()
        FIXTURES[name](base)
        if args.check:
            videos, problems, faults = check(base)
            files = sum(len(names) for _, _, names in os.walk(base))
            print(f'{name:20} {videos:3} videos {problems:3} problems {files:4} files  ' + ('ok' if not faults else 'FAULTS'))
            for fault in faults:
                print('   ', fault)
            bad += len(faults)
    sys.exit(1 if bad else 0)


main()
