# What scripts/test runs, one function a stage. Each counts its test cases (count.sh) and answers whether none failed.
# Sourced by scripts/test, which sets `size` (quick, normal, long) and `reports`; lib.sh sets the rest.
# shellcheck disable=SC2154

# stage NAME FUNCTION [ARGUMENT...]: runs it and prints its time and counts. A function that fails without having counted
# a failure counts as one; the answer says whether it failed.
stage() {
  local name=$1 begin=$SECONDS passed_before=$passed failed_before=$failed status=0
  shift
  say "${bold}== $name$plain"
  "$@" || status=$?
  ((status == 0 || failed > failed_before)) || failed=$((failed + 1))
  local colour=$green
  ((failed > failed_before)) && colour=$red
  say "$colour-- $name: $((passed - passed_before)) passed, $((failed - failed_before)) failed, $((SECONDS - begin)) s$plain"
  ((failed == failed_before))
}

# check NAME COMMAND...: one check that is no test program.
check() {
  local name=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
    say "ok   $name"
  else
    failed=$((failed + 1))
    say "${red}FAIL $name$plain"
  fi
}

set_up() {
  install_packages test && choose_node && choose_ccache || return
  install_tools e2e && install_tools page && install_tools model && install_page_tools || return
  say "$(clang++-19 --version | head -n 1), Node $("$node" --version), ccache in $CCACHE_DIR"
}

# --- Work ahead of its stage

# A job is work that no clock is held against: a build, the checks, instructions, simulated lives, the fuzzers. scripts/ahead does jobs in
# the background with the time that nobody else wants: end-to-end tests mostly wait.
job() {
  case $1 in
    asan-build) build asan ;;
    # shellcheck disable=SC2046
    tsan-build) build tsan $(thread_tests) ;;
    checks) checks ;;
    instructions) instructions ;;
    # Virtual time, and a hundred times the work of the other test programs.
    asan-simulation) ctest_in asan/simulation -L simulation ;;
    fuzz) fuzz ;;
  esac
}

ahead=''

# start_ahead JOB...: begins them, one after the other.
start_ahead() {
  local preset
  # In the foreground: CMake that is ended halfway leaves a folder that nobody can trust.
  for preset in asan tsan; do configure "$preset" || return; done
  rm -rf "$reports/ahead" && mkdir -p "$reports/ahead"
  size=$size reports=$reports setsid scripts/ahead "$@" </dev/null >"$reports/ahead/log" 2>&1 &
  ahead=$!
}

# ahead_done JOB: waits for it, prints what it printed and counts what it counted.
ahead_done() {
  local done=$reports/ahead/$1.done counts
  while [[ ! -f $done ]] && kill -0 "$ahead" 2>/dev/null; do sleep 0.2; done
  cat "$reports/ahead/$1.log"
  # One that was ended before it was done has failed.
  read -ra counts <"$done" || return
  passed=$((passed + counts[0])) failed=$((failed + counts[1]))
  ((counts[2] == 0))
}

# stop_ahead: ends what goes on, and waits until nothing of it is left; what was compiled stays.
stop_ahead() {
  [[ -n $ahead ]] || return 0
  kill -TERM -- "-$ahead" 2>/dev/null || true
  wait "$ahead" 2>/dev/null || true
  # Ninja and its compilers are in the same group: the folder is ours once they are gone.
  while kill -0 -- "-$ahead" 2>/dev/null; do sleep 0.1; done
  ahead=''
}

# --- Test programs

# ctest_in PRESET[/PART] [OPTION...]: the test programs of a build, counted by test case. The options choose among them; a
# part has reports of its own.
ctest_in() {
  local xml=$reports/${1/\//-} preset=${1%%/*} seconds=600
  [[ $size == long ]] && seconds=7200
  rm -rf "$xml" && mkdir -p "$xml"
  GTEST_OUTPUT=xml:$xml/ GTEST_BRIEF=1 ctest --test-dir "build/$preset" -j "$(nproc)" --timeout "$seconds" --no-tests=error --output-on-failure \
    --output-junit "$xml/ctest.junit" "${@:2}" </dev/null
  count_ctest "$xml"
}

tsan_tests() { ahead_done tsan-build && ctest_in tsan -L threads; }

# --- Node's test runner

# node_tests NAME FILES_AT_ONCE FILE...: with Node's own test runner, against the binary in ERRAND_BIN.
node_tests() {
  local tap=$reports/$1.tap
  ERRAND_E2E_TOOLS=$root/build/tools/e2e ERRAND_PAGE_TOOLS=$root/build/tools/page ERRAND_MODEL_TOOLS=$root/build/tools/model \
    "$node" --test --test-concurrency="$2" --test-reporter=spec --test-reporter-destination=stdout \
    --test-reporter=tap --test-reporter-destination="$tap" "${@:3}" </dev/null
  count_tap "$tap"
}

# alone_files: the end-to-end files that run alone, of the page too, one a line. others_of FILE...: those that do not.
alone_files() { sed -n 's|^\([a-z0-9_/]\{1,\}\):.*|tests/\1.test.mjs|p' tests/alone.txt; }
others_of() { printf '%s\n' "$@" | grep -vxFf <(alone_files); }

# Those that measure, one after the other; the others of the command line and the API, side by side; and those of the page
# in the real browser. Against the release binary.
e2e_alone() {
  # shellcheck disable=SC2046
  ERRAND_BIN=$root/build/release/errand node_tests e2e-alone 1 $(alone_files)
}
e2e_shared() {
  # shellcheck disable=SC2046
  ERRAND_BIN=$root/build/release/errand node_tests e2e 2 $(others_of tests/e2e/*.test.mjs)
}
page_e2e() {
  # shellcheck disable=SC2046
  ERRAND_BIN=$root/build/release/errand node_tests page 2 $(others_of tests/page/*.test.mjs)
}

# e2e PRESET FILE...: these, one after the other.
e2e() {
  ERRAND_BIN=$root/build/$1/errand node_tests "e2e-$1-$(basename "$2" .test.mjs)" 1 "${@:2}"
}

# The scripted model that the agents' tests talk to, held to its protocols by the official SDKs.
model_double() { node_tests model 1 tests/model/*.test.mjs; }

# The page's logic, on Vitest; its types are checked when it is built.
page_unit() {
  local tap=$reports/page-unit.tap status=0
  (cd web && "$node" node_modules/vitest/vitest.mjs run --reporter=tap-flat </dev/null) >"$tap" || status=$?
  ((status == 0)) || grep -v '^ok ' "$tap"
  # Files that never ran are no lines in it: its own verdict counts too.
  count_tap_lines "$tap" && ((status == 0))
}

# What scripts/release makes, tried on clean systems and with every package manager. Needs the network, and root for the systems.
release_packages() {
  local key=$reports/release-key
  as_root apt-get install -y -q --no-install-recommends debootstrap lintian minisign </dev/null >"$reports/apt.log" 2>&1 || return
  install_tools release || return
  rm -f "$key" "$key.pub" && minisign -G -W -f -s "$key" -p "$key.pub" >/dev/null && MINISIGN_KEY=$key scripts/release || return
  ERRAND_RELEASE_PUBLIC_KEY=$key.pub node_tests packages 1 tests/release/packages.test.mjs || return
  ERRAND_BIN=$root/build/dist/errand-linux-x64 node_tests packages-npm 1 tests/e2e/npm.test.mjs
}

# --- Fuzzers

# Each target replays its corpus and then looks for new ground for a while, as many at once as there are processors. What
# it finds stays in build/test/fuzz.
fuzz() {
  # Every change looks at the same ground, so that a red run is the change's own; --long looks further, from a new seed.
  local targets target name seconds=5 seed=1
  [[ $size == long ]] && seconds=60 seed=$RANDOM && say "seed $seed"
  targets=$(ninja -C build/asan -t targets all | sed -n 's/^\(.*fuzz_[a-z0-9_]*\): CXX_EXECUTABLE_LINKER.*/\1/p')
  [[ -n $targets ]] || return
  rm -f "$reports"/fuzz/*.ok
  export -f fuzz_one
  xargs -P "$(nproc)" -I {} bash -c 'fuzz_one "$@" || true' fuzz_one "build/asan/{}" "$reports/fuzz" "$seconds" "$seed" <<<"$targets"
  for target in $targets; do
    name=${target##*fuzz_}
    check "fuzz $name" fuzz_went_well "$reports/fuzz/$name"
  done
}

# fuzz_one PROGRAM FOLDER SECONDS SEED: FOLDER/NAME.ok afterwards says that it found nothing.
fuzz_one() {
  local name=${1##*fuzz_} found corpus
  found=$2/$name corpus=tests/fuzz/corpus/$name
  mkdir -p "$found"
  # Leaving the found units out of the replay keeps it the same on every machine.
  { "$1" -runs=0 -timeout=30 -rss_limit_mb=2048 "$corpus" &&
    "$1" -max_total_time="$3" -seed="$4" -timeout=30 -rss_limit_mb=2048 -artifact_prefix="$found-" "$found" "$corpus"; } </dev/null >"$found.log" 2>&1 &&
    : >"$found.ok"
}

fuzz_went_well() { [[ -f $1.ok ]] || { tail -n 40 "$1.log"; return 1; }; }

# --- Instructions

# Of the hot paths, against bench/instructions.txt.
instructions() { check "the hot paths need no more instructions than before" scripts/instructions; }

# --- Checks of the sources

sources() { git ls-files --cached --others --exclude-standard -- '*.cc' '*.h' | while read -r f; do [[ -f $f ]] && echo "$f"; done; }

format() { sources | xargs clang-format-19 --dry-run -Werror; }

# The units that differ from where this work began: the uncommitted ones and those of the commits since the main branch.
# Where this commit is the main branch (a clone made after the push, as in CI) nothing says where the work began, and its
# last commit is often words alone: there it is all that came since the last pause of two hours between two commits. By
# their own dates, so that a commit has the same units whenever it is looked at. tidy's five minutes bound what is done.
changed_sources() {
  local base
  base=$(git merge-base HEAD origin/main 2>/dev/null || true)
  if [[ -z $base || $base == "$(git rev-parse HEAD)" ]]; then
    base=$(git log --first-parent --max-count=1000 --format='%H %ct' |
      awk 'NR > 1 && later - $2 > 7200 && !base { base = $1 } { later = $2 } END { print base }')
    [[ -n $base ]] || base=$(git hash-object -t tree /dev/null)
  fi
  { git diff --name-only --diff-filter=d "$base" -- 'src/*.cc' && git ls-files --others --exclude-standard -- 'src/*.cc'; } | sort -u
}

# tidy [all]: clang-tidy on the units of the release build that changed (no tests, and no fuzzers, which are not in it), as
# many as five minutes allow, the quick ones first; it says how many
# were left out and names them in build/test/tidy.left. `all`: every unit of this commit that has not passed yet, however
# long that takes; a run that was broken off is taken up where it stopped.
tidy() {
  local files heavy state=$reports/tidy count left seconds=300 status=0
  # A unit with Beast or CLI11 in it takes half a minute.
  heavy='#include <(boost/(asio|beast)|CLI/)'
  mkdir -p "$state"
  if [[ ${1:-} == all ]]; then
    seconds=$((24 * 3600))
    # Uncommitted changes have no name by which they could be known again.
    [[ $(cat "$state/commit" 2>/dev/null) == "$(commit_now)" && $(commit_now) != *-dirty ]] || : >"$state/passed"
    commit_now >"$state/commit"
    files=$(sources | grep '^src/.*\.cc$' | grep -vE '_(test|fuzz)\.cc$' | grep -vxFf "$state/passed")
  else
    : >"$state/passed"
    rm -f "$state/commit"
    files=$(changed_sources | grep -vE '_(test|fuzz)\.cc$')
  fi
  [[ -n $files ]] || return 0
  files=$(xargs grep -LE "$heavy" <<<"$files"; xargs grep -lE "$heavy" <<<"$files") || true
  : >"$state/left"
  export -f tidy_one
  xargs -P "$(nproc)" -n 1 bash -c 'tidy_one "$@"' tidy_one "$state" $(($(date +%s) + seconds)) <<<"$files" 2>"$reports/tidy.log" || status=1
  count=$(wc -l <<<"$files") left=$(wc -l <"$state/left")
  cp "$state/left" "$reports/tidy.left"
  say "clang-tidy: $((count - left)) of $count units; $left left out after $seconds s (build/test/tidy.left)"
  return $status
}

# tidy_one STATE DEADLINE UNIT
tidy_one() {
  if (($(date +%s) >= $2)); then
    echo "$3" >>"$1/left"
  else
    clang-tidy-19 -p build/release --quiet "$3" && echo "$3" >>"$1/passed"
  fi
}

all_there() { ls -- "$@" >/dev/null; }

page_format() { (cd web && "$node" node_modules/prettier/bin/prettier.cjs --log-level warn --check .); }

# With the types that the API's document gives the page, which a build makes.
page_lint() {
  (cd web && "$node" node_modules/openapi-typescript/bin/cli.js ../src/api/openapi.json --output src/api/schema.gen.ts >/dev/null 2>&1 &&
    "$node" node_modules/eslint/bin/eslint.js --max-warnings 0 .)
}

checks() {
  check "clang-format" format
  check "clang-tidy" tidy
  other_checks
}

other_checks() {
  check "prettier (the page)" page_format
  check "ESLint (the page)" page_lint
  # shellcheck disable=SC2046
  check "every file of tests/alone.txt is there" all_there $(alone_files)
  check "shell scripts parse" bash -n scripts/*.sh scripts/ahead scripts/run scripts/test scripts/page scripts/release scripts/instructions bench/run .ci/run
}
