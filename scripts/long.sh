# scripts/test --long: the sizes for a release, in parts. Each part leaves a record, so that hours of testing can be done
# in pieces: what passed at this commit is not run again.
# shellcheck disable=SC2154,SC2046,SC2183  # Variables of scripts/test; lists of words are meant to split.

# Every part, and what it runs.
long_parts=(release simulation kills notices streams tokens e2e page asan asan-simulation fuzz tsan packages tidy checks instructions)

long_part() {
  case $1 in
    release) ctest_in release -LE simulation ;;
    simulation) ctest_in release -L simulation ;;
    kills) e2e release tests/e2e/kill.test.mjs ;;
    notices) e2e release tests/e2e/notices.test.mjs ;;
    streams) e2e release tests/e2e/streams.test.mjs ;;
    tokens) e2e release tests/e2e/tokens.test.mjs ;;
    e2e) e2e release $(printf '%s\n' tests/e2e/*.test.mjs | grep -vE '/(kill|notices|streams|tokens)\.test') ;;
    page) page_unit && e2e release tests/page/*.test.mjs && model_double ;;
    asan) build asan && ctest_in asan -L 'unit|contract' && e2e asan tests/e2e/smoke.test.mjs ;;
    # A simulated life takes ten times as long here: a hundred thousand of them are the release build's.
    asan-simulation) build asan && ERRAND_SIM_LIVES=10000 ctest_in asan/simulation -L simulation ;;
    fuzz) build asan && fuzz ;;
    # shellcheck disable=SC2046
    tsan) build tsan $(thread_tests) && ctest_in tsan -L threads ;;
    packages) release_packages ;;
    tidy) check "clang-tidy on every unit" tidy all ;;
    checks) check "clang-format" format && other_checks ;;
    instructions) instructions ;;
  esac
}

# The commit that is tested; with uncommitted changes it is none that a record could stand for.
commit_now() { git describe --always --abbrev=12 --match='' --dirty; }

# long_record PART: its last record: date, commit, passed, failed, seconds.
long_record() { cat "$reports/long/$1" 2>/dev/null; }

# has_passed PART: it was run at this very commit, and nothing failed.
has_passed() {
  local commit failures
  read -r _ commit _ failures _ < <(long_record "$1") || return
  [[ $commit == "$(commit_now)" && $commit != *-dirty && $failures == 0 ]]
}

# run_long_part PART: as a stage; records what came of it.
run_long_part() {
  local begin=$SECONDS passed_before=$passed failed_before=$failed
  stage "long: $1" long_part "$1" || true
  mkdir -p "$reports/long"
  printf '%s %s %s %s %s\n' "$(date -u +%Y-%m-%dT%H:%MZ)" "$(commit_now)" $((passed - passed_before)) $((failed - failed_before)) \
    $((SECONDS - begin)) >"$reports/long/$1"
}

# long_table: every part with its last record, for docs/testing.md.
long_table() {
  local part
  say "| part | date | commit | passed | failed | seconds |"
  say "|---|---|---|---|---|---|"
  for part in "${long_parts[@]}"; do
    printf '| %s | %s | %s | %s | %s | %s |\n' "$part" $(long_record "$part" || echo - - - - -)
  done
}

# run_long [PART...]: these parts, or all that have not passed at this commit.
run_long() {
  local part chosen=("$@")
  ((${#chosen[@]})) || for part in "${long_parts[@]}"; do has_passed "$part" || chosen+=("$part"); done
  for part in ${chosen[@]+"${chosen[@]}"}; do run_long_part "$part"; done
  long_table
}
