# The night, for ./dev nightly: its parts, each of which ends by itself, and one page of what they found. A part that is
# done for a commit is not done again, so that a night may be several.
# shellcheck shell=bash

# NAME MINUTES: a part is stopped after so many. The order is that in which they find most.
night_parts=(
  "faults 35" "goldens 30" "twins 10" "kernels 12" "mutations 20" "asan 60" "fuzz 30" "tsan 45" "lint 31" "coverage 60"
)

part_faults() {
  build test_cli && TRNSIM_FAULTS=all "$(build_dir)/test_cli" --gtest_filter='*Faults.*:Allocations.*:PowerCuts.*'
}
part_goldens() { "$root/dev" golden --random 200 "$(date -u +%Y%m%d)"; }
part_twins() { "$root/dev" golden --twins; }
part_kernels() {
  build trnsim trnsim_python && "$(build_dir)/trnsim" nki "$root/tests/nki/drawn.py" 2000 "$(date -u +%Y%m%d)"
}
part_mutations() { "$root/dev" mutate 20000 "$(date -u +%Y%m%d)"; }
part_asan() { TRNSIM_SLOW=all "$root/dev" test --preset asan 2>&1; }
part_tsan() { TRNSIM_SLOW=all "$root/dev" test --preset tsan 2>&1; }
part_fuzz() { "$root/dev" fuzz "" "${TRNSIM_FUZZ_SECONDS:-60}"; }
part_lint() { "$root/dev" lint --minutes 30 2>&1; }
part_coverage() { "$root/dev" coverage; }

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
  (set -o pipefail; export -f "part_$name"; timeout -k 30 "$seconds" bash -c "
     root='$root'; preset=release; build_dir() { echo '$root/build'; }; build() { '$root/dev' build \"\$@\"; }
     set -o pipefail; part_$name") >"$kept/$name.new" 2>&1 || code=$?
  case $code in
    0) how="nothing found" ;;
    124 | 137) how="stopped after $(((SECONDS - begin) / 60)) min" ;;
    *) how="found something" ;;
  esac
  printf '%s, %s min\n' "$how" "$(((SECONDS - begin + 59) / 60))" >"$kept/$name.how"
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

# nightly [--hours H] [--slack F] [PART...]: those that are left for this commit, as long as they end within H hours (4).
# On a machine that does other work a part has F times its minutes.
nightly() {
  local hours=4 slack=1 kept one name minutes end
  while [[ ${1:-} == --hours || ${1:-} == --slack ]]; do
    [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || die "$1: \"${2:-}\" is no whole number above 0" "write for example $1 4"
    [[ $1 == --hours ]] && hours=$2 || slack=$2
    shift 2
  done
  kept=$root/build/nightly/$(night_of)
  mkdir -p "$kept"
  end=$((SECONDS + hours * 3600))
  for one in "${night_parts[@]}"; do
    name=${one% *} minutes=$((${one#* } * slack))
    if [[ $# -gt 0 ]]; then
      [[ " $* " == *" $name "* ]] || continue
    elif [[ -f $kept/$name.txt ]]; then
      continue
    fi
    [[ $((SECONDS + minutes * 60)) -le $end ]] || continue
    night_part "$name" "$kept" $((minutes * 60))
  done
  for name in "$@"; do
    declare -F "part_$name" >/dev/null || die "nightly: \"$name\" is no part" "choose from ${night_parts[*]% *}"
  done
  night_page "$kept"
}
