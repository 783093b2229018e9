# The night, for ./dev nightly: its parts, each of which ends by itself, and one page of what they found. A part that is
# done for a commit is not done again, so that a night may be several; a suite that is stopped goes on behind the tests
# that have passed.
# shellcheck shell=bash

# NAME MINUTES: a part is stopped after so many. The order is that in which they find most. The first ones use one core
# each and run two at a time; the others use all.
night_singles=("faults 70" "goldens 30" "twins 10" "kernels 12" "fuzz 35")
night_wholes=("suite 45" "mutations 30" "asan 60" "lint 31" "coverage 60" "tsan 60")
night_parts=("${night_singles[@]}" "${night_wholes[@]}")

part_faults() {
  local found=0
  build
  TRNSIM_FAULTS=all "$(build_dir)/test_cli" --gtest_filter='*Faults.*:Allocations.*:PowerCuts.*' || found=1
  TRNSIM_FAULTS=all PYTHONPATH=$(build_dir)/python TRNSIM_BINARY=$(build_dir)/trnsim \
    /usr/bin/python3 -B "$root/tests/python/writers_test.py" || found=1
  return $found
}
part_goldens() { "$root/dev" golden --random 200 "$(date -u +%Y%m%d)"; }
part_twins() { "$root/dev" golden --twins; }
part_kernels() {
  build trnsim trnsim_python && "$(build_dir)/trnsim" nki "$root/tests/nki/drawn.py" 2000 "$(date -u +%Y%m%d)"
}
part_mutations() { "$root/dev" mutate 100000 "$(date -u +%Y%m%d)"; }
part_suite() { suite release; }
part_asan() { suite asan; }
# A race takes two threads: a test whose processes had one each is left out, once the part that counts lines has seen it.
part_tsan() {
  local single=$kept/tsan.single
  : >"$single"
  [[ ! -f $kept/threads.asked ]] || awk 'NR == FNR { seen[$0]; next } !($0 in seen)' "$kept/threads.seen" \
    "$kept/threads.asked" >"$single"
  echo "$(wc -l <"$single") tests are left out: their processes had one thread each"
  suite tsan "$single"
}
part_fuzz() { "$root/dev" fuzz "" "${TRNSIM_FUZZ_SECONDS:-60}"; }
part_lint() { "$root/dev" lint --minutes 30 2>&1; }
part_coverage() {
  local found=0
  build trnsim_threads_seen
  rm -f "$kept"/threads.*
  LD_PRELOAD=$(build_dir)/libtrnsim_threads_seen.so TRNSIM_THREADS_SEEN=$kept/threads.seen "$root/dev" coverage || found=1
  [[ ! -f $kept/threads.seen ]] || note_passed "$root/build-coverage/tests.log" "$kept/threads.asked"
  return $found
}

# All tests of a preset but those that earlier calls saw pass, and those whose names are in the file $2.
suite() {
  local passed=$kept/$1.passed without=${2:-/dev/null} left=()
  touch "$passed"
  if [[ -s $passed || -s $without ]]; then
    echo "$(wc -l <"$passed") tests passed in earlier calls"
    left=(-I "0,0,0,$(tests_left "$1" <(cat "$passed" "$without"))") || return
    [[ ${left[1]} != 0,0,0, ]] || return 0
  fi
  TRNSIM_SLOW=all "$root/dev" test --preset "$1" --all "${left[@]}" 2>&1
}
# The numbers of a preset's tests that no line of $2 names, with commas between.
tests_left() {
  (cd "$root" && ctest --preset "$1" -N) | sed -n 's/^ *Test *#\([0-9]*\): \(.*[^ ]\) *$/\1 \2/p' |
    awk 'NR == FNR { seen[$0]; next } { n = $1; sub(/^[0-9]+ /, ""); if (!($0 in seen)) print n }' "$2" - | paste -sd,
}
# Adds the tests that passed in a suite's output to those of before.
note_passed() {
  sed -n 's/^ *[0-9]*\/[0-9]* Test *#[0-9]*: \(.*[^ .]\) *\.* *Passed .*/\1/p' "$1" >>"$2"
}

# The commit, and what is not in it.
night_of() {
  local commit
  commit=$(git -C "$root" rev-parse --short HEAD)
  [[ -z $(git -C "$root" status --porcelain) ]] || commit+=-changed
  echo "$commit"
}

# Runs one part and keeps its results; $3: seconds that it has.
night_part() {
  local name=$1 kept=$2 seconds=$3 begin=$SECONDS how=found code=0
  say "nightly: $name, at most $((seconds / 60)) min"
  (set -o pipefail; export -f "part_$name" suite tests_left note_passed; timeout -k 30 "$seconds" bash -c "
     root='$root'; kept='$kept'; preset=release; build_dir() { echo '$root/build'; }; build() { '$root/dev' build \"\$@\"; }
     set -o pipefail; part_$name") >"$kept/$name.new" 2>&1 || code=$?
  case $code in
    0) how="nothing found" ;;
    124 | 137) how="stopped after $(((SECONDS - begin) / 60)) min" ;;
    *) how="found something" ;;
  esac
  printf '%s, %s min\n' "$how" "$(((SECONDS - begin + 59) / 60))" >"$kept/$name.how"
  if [[ $how == stopped* && -f $kept/$name.passed ]]; then
    note_passed "$kept/$name.new" "$kept/$name.passed"
    echo "$how, $(wc -l <"$kept/$name.passed") tests passed, the others are left for the next call" >"$kept/$name.how"
    return
  fi
  mv "$kept/$name.new" "$kept/$name.txt"
}

# The page, on stdout.
night_page() {
  local kept=$1 one name
  printf '# Nightly of %s, %s\n\n| part | |\n|---|---|\n' "$(basename "$kept")" "$(date -u +%F)"
  for one in "${night_parts[@]}"; do
    name=${one% *}
    printf '| %s | %s |\n' "$name" "$(cat "$kept/$name.how" 2>/dev/null || echo 'left for the next call')"
  done
  for one in "${night_parts[@]}"; do
    name=${one% *}
    [[ -f $kept/$name.txt ]] || continue
    printf '\n## %s\n\n' "$name"
    if [[ $name == coverage ]]; then head -n 60 "$kept/$name.txt"; else tail -n 14 "$kept/$name.txt"; fi |
      sed 's/^/    /'
  done
}

# One lane: those of the parts that are left, that no other lane has, and that end within $2 seconds; $3: slack.
night_lane() {
  local kept=$1 end=$2 slack=$3 one name minutes lock
  shift 3
  for one in "$@"; do
    name=${one% *} minutes=$((${one#* } * slack))
    exec {lock}>"$kept/$name.lock"
    if [[ ! -f $kept/$name.txt && $((SECONDS + minutes * 60)) -le $end ]] && flock -n "$lock"; then
      night_part "$name" "$kept" $((minutes * 60))
    fi
    exec {lock}>&-
  done
}

# nightly [--hours H] [--slack F] [PART...]: those that are left for this commit, as long as they end within H hours (4);
# a part that is named is done again. On a machine that does other work a part has F times its minutes.
nightly() {
  local hours=4 slack=1 kept one name end singles=() wholes=()
  while [[ ${1:-} == --hours || ${1:-} == --slack ]]; do
    [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || die "$1: \"${2:-}\" is no whole number above 0" "write for example $1 4"
    [[ $1 == --hours ]] && hours=$2 || slack=$2
    shift 2
  done
  for name in "$@"; do
    declare -F "part_$name" >/dev/null || die "nightly: \"$name\" is no part" "choose from ${night_parts[*]% *}"
  done
  kept=$root/build/nightly/$(night_of)
  mkdir -p "$kept"
  for name in "$@"; do [[ ! -f $kept/$name.txt ]] || rm -f "$kept/$name".{txt,how,passed}; done
  chosen() { [[ $# -eq 1 || " ${*:2} " == *" $1 "* ]]; }
  for one in "${night_singles[@]}"; do chosen "${one% *}" "$@" && singles+=("$one"); done
  for one in "${night_wholes[@]}"; do chosen "${one% *}" "$@" && wholes+=("$one"); done
  end=$((SECONDS + hours * 3600))
  (build)  # at once, so that lanes have nothing left to build beside each other
  night_lane "$kept" "$end" "$slack" "${singles[@]}" &
  night_lane "$kept" "$end" "$slack" "${singles[@]}"
  wait
  night_lane "$kept" "$end" "$slack" "${wholes[@]}"
  night_page "$kept"
}
