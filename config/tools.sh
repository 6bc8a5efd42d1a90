#!/bin/sh
# Installs what the project needs beside Node, Python and make: called by the Makefile with one of
#   packages  node_modules, as package-lock.json has them
#   ytdlp     tools/: a Python venv with the pinned yt-dlp, unless AV_YTDLP names one
#   apprise   tools/: the pinned Apprise beside it; a server without one sends its messages to webhooks only
#   ffmpeg    ffmpeg and ffprobe: from PATH, the system's packages (root), or registry packages that ship them
# Each does nothing where there is nothing to do.
set -eu
cd "$(dirname "$0")/.."

say() { printf '%s\n' "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }

# Compared by content: a fresh clone and `git checkout` both move the times of files.
packages_are_current() {
  node -e '
    const read = (path) => JSON.parse(require("fs").readFileSync(path)).packages
    const wanted = read("package-lock.json"), there = read("node_modules/.package-lock.json")
    const missing = Object.keys(wanted).filter((path) => path && !wanted[path].optional && wanted[path].version !== there[path]?.version)
    process.exit(missing.length > 0 ? 1 : 0)' 2>/dev/null
}

packages() {
  node -e 'const [major, minor] = process.versions.node.split(".").map(Number); process.exit(major > 20 || (major === 20 && minor >= 11) ? 0 : 1)' 2>/dev/null ||
    { say "Node 20.11 or newer is needed (here: $(node --version 2>/dev/null || echo none)); install it from your system's packages or nodejs.org"; exit 1; }
  packages_are_current && return
  say 'Installing packages into node_modules/'
  npm ci --no-audit --no-fund --loglevel=error
}

ytdlp() {
  [ -n "${AV_YTDLP:-}" ] && return
  requirements=plugins/platform/requirements.txt
  deno=plugins/platform/requirements-deno.txt
  [ -f "$requirements" ] || return 0
  # yt-dlp solves the platform's challenges with a JavaScript runtime: Node from 22 on, else deno.
  if [ -f "$deno" ] && [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 22 ]; then with_deno=yes; else with_deno=no; fi
  wanted=$(cat "$requirements" "$deno" 2>/dev/null; echo "deno: $with_deno")
  [ -x tools/bin/python ] && [ "$(cat tools/installed 2>/dev/null)" = "$wanted" ] && return
  have python3 || { say 'Python 3.10 or newer is needed for yt-dlp: install python3, or set AV_YTDLP'; exit 1; }
  say 'Installing yt-dlp into tools/'
  [ -x tools/bin/python ] || python3 -m venv tools ||
    { say 'Python cannot make a virtual environment; on Debian: apt-get install python3-venv'; exit 1; }
  if [ "$with_deno" = yes ]; then set -- -r "$requirements" -r "$deno"; else set -- -r "$requirements"; fi
  tools/bin/pip install --quiet --disable-pip-version-check "$@"
  printf '%s' "$wanted" >tools/installed
}

apprise() {
  [ -n "${AV_APPRISE:-}" ] && return
  requirements=plugins/notification/requirements.txt
  shared=plugins/platform/requirements.txt
  [ -f "$requirements" ] || return 0
  wanted=$(cat "$requirements" "$shared" 2>/dev/null)
  [ -x tools/bin/python ] && [ "$(cat tools/installed-apprise 2>/dev/null)" = "$wanted" ] && return
  say 'Installing Apprise into tools/'
  if { [ -x tools/bin/python ] || python3 -m venv tools; } && tools/bin/pip install --quiet --disable-pip-version-check -r "$requirements" -c "$shared"; then
    printf '%s' "$wanted" >tools/installed-apprise
  else
    say 'Apprise could not be installed: messages go to json:// and http(s):// URLs only'
  fi
}

ffmpeg() {
  PATH="$PATH:$PWD/tools/bin"
  have ffmpeg && have ffprobe && return
  if have apt-get && [ "$(id -u)" = 0 ]; then
    say 'Installing ffmpeg by apt-get'
    (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ffmpeg) >/dev/null && return
  fi
  say 'Fetching ffmpeg and ffprobe from registry packages that ship them, into tools/'
  if [ -x tools/bin/python ] || python3 -m venv tools; then
    tools/bin/pip install --quiet --disable-pip-version-check imageio-ffmpeg==0.8.1 &&
      ln -sf "$(tools/bin/python -c 'import imageio_ffmpeg; print(imageio_ffmpeg.get_ffmpeg_exe())')" tools/bin/ffmpeg || true
    npm install --prefix tools/ffprobe --no-save --no-audit --no-fund --loglevel=error @ffprobe-installer/ffprobe@2.1.2 &&
      ln -sf "$(cd tools/ffprobe && node -p 'require("@ffprobe-installer/ffprobe").path')" tools/bin/ffprobe || true
  fi
  have ffmpeg && have ffprobe && return
  say 'ffmpeg and ffprobe are needed and could not be installed. Run: sudo apt-get install ffmpeg   (or your system'"'"'s like of it)'
  exit 1
}

case "${1:-}" in
  packages | ytdlp | apprise | ffmpeg) "$1" ;;
  *) say "usage: $0 packages | ytdlp | apprise | ffmpeg"; exit 2 ;;
esac
