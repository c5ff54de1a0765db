#!/bin/sh
# bench_duplicates runs, finds every near-duplicate, and says what is wrong with its options.
set -e
bench="$BUILD_DIR/bench_duplicates"
[ -x "$bench" ] || { echo "bench_duplicates is not built here"; exit 77; }
out=$("$bench" --known 20000 --repeats 2)
for row in "near/new" "near/known" "near/set" "near/brute" "exact/new" "exact/known"; do
    echo "$out" | grep -q "^$row" || { echo "no row $row in: $out"; exit 1; }
done
echo "$out" | grep "^near/known" | grep -q " 100.0%" || { echo "a near-duplicate was missed: $out"; exit 1; }
echo "$out" | grep "^near/new" | grep -q " 0.0%" || { echo "a new page was taken for a known one: $out"; exit 1; }
! "$bench" --distance 8 2>/dev/null || { echo "a distance of 8 was accepted"; exit 1; }
! "$bench" --filter nothing 2>/dev/null || { echo "a filter for nothing was accepted"; exit 1; }
