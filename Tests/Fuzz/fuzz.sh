#!/usr/bin/env bash
# Runs libFuzzer for `make fuzz` and `make fuzz-keep` (docs/testing.md).
#
#   fuzz.sh run PROGRAM SECONDS TARGET…   fuzzes one target after another, to the first finding
#   fuzz.sh keep PROGRAM TARGET…          adds what was found, and the corpus lacks, to the corpus
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# Where what is found stays, so that the next run goes on from it.
scratch=.build/fuzz/found
# Freed memory is watched for a while; libFuzzer takes the usual 256 MB for a leak.
# Swift's own report of a crash would upset the sanitizer, which writes one as well.
export SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=quarantine_size_mb=64:malloc_context_size=8

fuzz() {
    local program=$1 seconds=$2 target=$3
    local log=$scratch/$target.log dictionary=$here/Dictionaries/$target.dict
    local options=(-max_total_time="$seconds" -timeout=10 -print_final_stats=1
        -artifact_prefix="$scratch/$target-")
    [ ! -e "$dictionary" ] || options+=(-dict="$dictionary")
    mkdir -p "$scratch/$target"
    echo "$target: $seconds s, log in $log"
    # libFuzzer adds to the first folder, and only reads the second.
    if ! SIWA_FUZZ_TARGET=$target "$program" "${options[@]}" \
        "$scratch/$target" "$here/Corpus/$target" >"$log" 2>&1; then
        grep -E 'Fatal error|ERROR|SUMMARY|Test unit written' "$log" || tail -n 20 "$log"
        explain "$program" "$target"
        exit 1
    fi
    local runs coverage
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    coverage=$(grep -o 'cov: [0-9]*' "$log" | tail -n 1)
    echo "$target: no finding in $runs runs, $coverage"
}

explain() {
    cat <<END
$2: a finding; the line 'Test unit written to' names the INPUT
  run it again:     SIWA_FUZZ_TARGET=$2 $1 INPUT
  make it smaller:  SIWA_FUZZ_TARGET=$2 $1 -minimize_crash=1 -runs=100000 INPUT
  fix it, and put the input into Tests/Fuzz/Corpus/$2 under a name that says what it is:
  swift test --filter FuzzTests runs it from there ever after
END
}

keep() {
    local program=$1 target=$2
    # By edges alone: libFuzzer's own measure, with its counters, would keep thousands.
    SIWA_FUZZ_TARGET=$target "$program" -set_cover_merge=1 -use_counters=0 -max_len=4096 \
        "$here/Corpus/$target" "$scratch/$target" 2>&1 | grep -E '^MERGE-OUTER: .*new files' ||
        true
}

action=$1 program=$2
shift 2
case $action in
run)
    seconds=$1
    shift
    for target; do fuzz "$program" "$seconds" "$target"; done
    ;;
keep) for target; do keep "$program" "$target"; done ;;
esac
