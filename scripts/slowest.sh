# The ten slowest compilations and tests of a run of scripts/test: where to look when it gets slow.
# shellcheck disable=SC2154

# slowest_units SINCE: what ninja built in any preset since then (seconds since 1970), by time.
slowest_units() {
  local log preset
  for log in build/*/.ninja_log; do
    [[ -f $log ]] || continue
    preset=${log#build/} preset=${preset%/*}
    # begin and end in ms, the output's time in ns, the output. A unit that was built twice counts with its last time.
    awk -v since="$1" -v preset="$preset" '$4 ~ /\.o$/ && $3 / 1e9 >= since { ms[$4] = $2 - $1 }
      END { for (unit in ms) { name = unit; sub(/CMakeFiles\/[^\/]*\.dir\//, "", name); sub(/\.o$/, "", name); printf "%.1f %s %s\n", ms[unit] / 1000, preset, name } }' "$log"
  done | sort -rn | head -n 10
}

# slowest_tests FOLDER: of all reports in it: GoogleTest's XML (one folder a preset) and the TAP of Node's runner.
slowest_tests() {
  {
    local file place
    for file in "$1"/*/*.xml; do
      [[ -f $file ]] || continue
      place=$(basename "$(dirname "$file")")
      sed -n 's/.*<testcase name="\([^"]*\)".* time="\([0-9.]*\)".* classname="\([^"]*\)".*/\2 '"$place"' \3.\1/p' "$file"
    done
    for file in "$1"/*.tap; do
      [[ -f $file ]] || continue
      # A suite's time is that of its tests.
      awk -v place="$(basename "$file" .tap)" '
        /^ *(not )?ok [0-9]+ - / { name = $0; sub(/^ *(not )?ok [0-9]+ - /, "", name) }
        /^ *duration_ms: / { ms = $2 }
        /^ *type: .test./ { printf "%.1f %s %s\n", ms / 1000, place, name }' "$file"
    done
  } | sort -rn | head -n 10
}

# say_slowest SINCE FOLDER
say_slowest() {
  local units tests
  units=$(slowest_units "$1") tests=$(slowest_tests "$2")
  [[ -z $units ]] || say "${bold}== The slowest compilations, in seconds$plain"$'\n'"$units"
  [[ -z $tests ]] || say "${bold}== The slowest tests, in seconds$plain"$'\n'"$tests"
}
