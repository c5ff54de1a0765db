#!/bin/sh
# bench_sieve: a small run has a row for every kind of sieve, in the table and as JSON, and leaves nothing behind; what it
# does not know it refuses with exit code 2.
set -eu
bench="$BUILD_DIR/bench_sieve"
[ -x "$bench" ] || { echo "bench_sieve is not built" >&2; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

for wrong in --frobnicate "--batch 0" "--batch 100000000" "--group 0" "--group 65" "--repeats 0" rocks; do
    code=0
    # shellcheck disable=SC2086
    "$bench" $wrong >"$work/out" 2>"$work/err" || code=$?
    [ "$code" = 2 ] || fail "exit code $code for: $wrong"
    [ ! -s "$work/out" ] || fail "output for: $wrong"
done

mkdir "$work/files"
"$bench" --known 20000 --batch 5000 --group 3 --repeats 2 --directory "$work/files" --json "$work/json" >"$work/table" ||
    fail "it does not run"
for name in signatures bloom mercator offline; do
    grep -q "^$name " "$work/table" || fail "no row $name: $(cat "$work/table")"
    grep -q "^{\"name\":\"$name\",.*}$" "$work/json" || fail "no JSON of $name: $(cat "$work/json")"
done
# 20,000 and six times 1,000: 8 bytes each, and less than a byte for the rest; the newest may still be in memory alone.
python3 - "$work/json" <<'PYTHON' || fail "wrong figures: $(cat "$work/json")"
import json
import sys
rows = {row["name"]: row for row in map(json.loads, open(sys.argv[1]))}
assert all(row["ns"] > 0 and row["min"] <= row["ns"] <= row["max"] for row in rows.values())
assert 20 / 26 * 8 < rows["mercator"]["disk"] < 9, rows["mercator"]
assert rows["signatures"]["disk"] == 0
assert 1 < rows["offline"]["amplification"] < rows["mercator"]["amplification"]
PYTHON
[ -z "$(ls "$work/files")" ] || fail "left behind: $(ls "$work/files")"
echo "bench_sieve: ok"
