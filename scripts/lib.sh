# What scripts/run and scripts/test share: packages, Node, the compiler cache, configuring and building.
# Sourced by bash; ends with the repository's root as the working directory.
# shellcheck disable=SC2034,SC2086,SC2015  # Colours are for those who source this; lists of words are meant to split.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD

# The Node that the page is built with and the end-to-end tests run on where the machine's own is older than 22 or absent,
# and its npm: Debian 12's leaves out what does not run on Debian 12's Node.
node_version=24.21.0
npm_version=11.19.1

if [[ -t 1 ]]; then
  bold=$'\e[1m' red=$'\e[31m' green=$'\e[32m' plain=$'\e[0m'
else
  bold='' red='' green='' plain=''
fi

say() { printf '%s\n' "$*"; }
die() {
  printf '%s%s%s\n' "$red" "$*" "$plain" >&2
  exit 1
}

# missing_packages run|test: the packages of the list that are not installed, one a line. No network.
missing_packages() {
  local wanted=$1 who package command
  while read -r who package command; do
    [[ -z $who || $who == '#'* ]] && continue
    [[ $wanted == run && $who == test ]] && continue
    [[ -n $command ]] && command -v "$command" >/dev/null && continue
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || say "$package"
  done <scripts/packages.txt
}

as_root() { if [[ $(id -u) == 0 ]]; then "$@"; else sudo "$@"; fi; }

# install_packages run|test: installs what is missing; asks apt for nothing where nothing is.
install_packages() {
  local missing
  missing=$(missing_packages "$1")
  [[ -z $missing ]] && return
  command -v apt-get >/dev/null ||
    die "errand needs these Debian 12 packages (or similar ones). apt-get was not found, so install them yourself:" $missing
  [[ $(id -u) == 0 ]] || command -v sudo >/dev/null ||
    die "Packages are missing, and installing them needs root (sudo was not found). Ask an administrator to run once:
  apt-get update && apt-get install -y --no-install-recommends" $missing
  say "Installing:" $missing
  local install=(env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends)
  # The machine's package lists may be old or absent: they are fetched only where they do not do.
  # shellcheck disable=SC2086
  as_root "${install[@]}" $missing </dev/null >build/apt.log 2>&1 ||
    { as_root apt-get update -q </dev/null >>build/apt.log 2>&1 &&
      as_root "${install[@]}" $missing </dev/null >>build/apt.log 2>&1; } ||
    { tail -n 20 build/apt.log >&2; die "apt-get could not install them; its output is in build/apt.log"; }
}

# npm_install FOLDER: what FOLDER/package-lock.json pins, into FOLDER. Not `npm ci`: it wants the packages of every other
# platform in the lock file, and a registry may not have them all. What is pinned is installed as pinned; what npm would
# write into the lock file beyond that is not ours.
npm_install() {
  "${npm[@]}" --prefix "$1" --cache build/tools/npm-cache install --ignore-scripts --no-audit --no-fund --loglevel=error </dev/null
}

# install_tools NAME [PINS]: the tools that tests/NAME (or the folder PINS) pins, into build/tools/NAME; fetched again only where
# the pins change.
install_tools() {
  local pins=${2:-tests/$1} tools=build/tools/$1
  cmp -s "$pins/package-lock.json" "$tools/pinned" && return
  rm -rf "$tools" && mkdir -p "$tools" && cp "$pins/package.json" "$pins/package-lock.json" "$tools/" || return
  npm_install "$tools" && cp "$pins/package-lock.json" "$tools/pinned"
}

is_node_22() { "$1" -e 'process.exit(parseInt(process.versions.node) >= 22 ? 0 : 1)' 2>/dev/null; }

# choose_node: sets `node` to a Node of version 22 or newer, and `npm` to an npm that runs on it: the machine's, else the
# pinned ones under build/tools/node.
choose_node() {
  local machine arch fetched=$root/build/tools/node/node_modules
  machine=$(command -v node || true)
  case $(uname -m) in
    x86_64) arch=x64 ;;
    aarch64) arch=arm64 ;;
    *) arch= ;;
  esac
  if [[ -n $machine ]] && is_node_22 "$machine"; then
    node=$machine npm=(npm)
  elif [[ -n $arch ]]; then
    node=$fetched/node-linux-$arch/bin/node npm=("$fetched/node-linux-$arch/bin/node" "$fetched/npm/bin/npm-cli.js")
    if [[ ! -x $node || $("$node" --version) != "v$node_version" || $("${npm[@]}" --version 2>&1) != "$npm_version" ]]; then
      say "Fetching Node $node_version"
      npm --prefix build/tools/node --cache build/tools/npm-cache install --no-save --no-audit --no-fund --loglevel=error \
        "node-linux-$arch@$node_version" "npm@$npm_version" </dev/null ||
        die "npm could not fetch Node $node_version: see above, or put Node 22 or newer and npm on PATH."
    fi
  fi
  [[ -n ${node:-} ]] && is_node_22 "$node" || die "The page and the end-to-end tests need Node 22 or newer on PATH."
}

# install_page_tools: what web/ is built with, as pinned; fetched again only where the pins change. Ninja builds the page
# when it is there (scripts/page), and leaves the page out where it is not.
install_page_tools() {
  mkdir -p build/page
  cmp -s web/package-lock.json build/page/pinned && [[ -d web/node_modules/vite ]] && return
  say "Fetching what the page is built with"
  cp web/package-lock.json build/page/lock
  npm_install web || return
  cmp -s build/page/lock web/package-lock.json || cp build/page/lock web/package-lock.json
  mv build/page/lock build/page/pinned
}

# The compiler cache: the user's own, or one under build/ where there is no home to write to.
choose_ccache() {
  # Paths below the checkout count as relative, so that every clone shares what one has compiled.
  export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=true
  [[ -n ${CCACHE_DIR:-} ]] && return
  local cache=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
  if [[ -n $cache ]] && mkdir -p "$cache/ccache" 2>/dev/null && [[ -w $cache/ccache ]]; then
    export CCACHE_DIR=$cache/ccache
  else
    export CCACHE_DIR=$root/build/ccache
  fi
}

# configure PRESET: only where it was not done yet, or the presets changed; ninja sees to the rest.
configure() {
  local cache=build/$1/CMakeCache.txt
  if [[ ! -f build/$1/build.ninja || CMakePresets.json -nt $cache ]]; then
    cmake --preset "$1" >"build/$1.configure.log" 2>&1 || { cat "build/$1.configure.log" >&2; return 1; }
    touch "$cache"
  fi
}

# build PRESET [TARGET...]: says nothing where nothing was to be done. In one language, whatever the user's is: ccache
# takes it for a part of what is compiled.
build() {
  local preset=$1
  shift
  configure "$preset" && env -u LC_ALL -u LC_CTYPE -u LC_MESSAGES LANG=C.UTF-8 ninja -C "build/$preset" --quiet -j "$(nproc)" "$@"
}

# thread_tests: the test programs for the thread sanitizer, one a line.
thread_tests() {
  # Regenerated first: a test that got the label since must be in the list.
  configure tsan && ninja -C build/tsan build.ninja >/dev/null || return
  ctest --test-dir build/tsan -N -L threads | sed -n 's/^ *Test *#[0-9]*: \([a-z0-9_]*\).*/\1/p'
}

mkdir -p build
