# Counts test cases for scripts/test: adds to `passed` and `failed`, and answers whether none failed.

# count_ctest FOLDER: what ctest wrote (ctest.junit) and what each GoogleTest program wrote beside it (NAME.xml). A
# program that broke without saying which case failed counts as one failure; one that is no GoogleTest as one case.
count_ctest() {
  local failed_before=$failed name status counts
  if [[ ! -s $1/ctest.junit ]]; then
    failed=$((failed + 1))
    return 1
  fi
  while read -r name status; do
    counts=(0 0)
    [[ -f $1/$name.xml ]] && read -ra counts < <(count_gtest "$1/$name.xml")
    if [[ $status == run ]]; then
      [[ -f $1/$name.xml ]] || counts[0]=1
    elif ((counts[1] == 0)); then
      counts[1]=1
    fi
    passed=$((passed + counts[0])) failed=$((failed + counts[1]))
  done < <(sed -n 's/.*<testcase name="\([^"]*\)".* status="\([^"]*\)".*/\1 \2/p' "$1/ctest.junit")
  ((failed == failed_before))
}

# count_gtest FILE: "PASSED FAILED"; skipped and disabled cases are neither.
count_gtest() {
  awk '
    function attribute(name) { return match($0, " " name "=\"[0-9]+\"") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 4) : 0 }
    /<testsuites / { tests = attribute("tests"); bad = attribute("failures") + attribute("errors"); off = attribute("disabled") }
    / result="skipped"/ { skipped++ }
    END { print tests - bad - off - skipped, bad + 0 }' "$1"
}

# count_tap FILE: the totals at the end of what Node's test runner wrote.
count_tap() {
  local counts
  read -ra counts < <(awk '/^# pass /{p=$3} /^# fail /{f=$3} /^# cancelled /{c=$3} END{print p+0, f+c}' "$1" 2>/dev/null)
  # Nothing ran: the runner itself broke.
  ((counts[0] + counts[1] > 0)) || counts=(0 1)
  passed=$((passed + counts[0])) failed=$((failed + counts[1]))
  ((counts[1] == 0))
}

# count_tap_lines FILE: TAP without totals, as Vitest writes it.
count_tap_lines() {
  local counts
  read -ra counts < <(awk '/^ok /{p++} /^not ok /{f++} END{print p+0, f+0}' "$1" 2>/dev/null)
  ((counts[0] + counts[1] > 0)) || counts=(0 1)
  passed=$((passed + counts[0])) failed=$((failed + counts[1]))
  ((counts[1] == 0))
}
