#!/bin/sh
# bench_lockfree: a quick run over everything gives a table and JSON lines; what it cannot do it says in one
# line, with exit code 2.
set -eu
bench="$BUILD_DIR/bench_lockfree"
[ -x "$bench" ] || { echo "bench_lockfree is not built" >&2; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# refused TEXT ARGUMENTS...: exit code 2, nothing on stdout, one line with TEXT on stderr.
refused() {
    text=$1; shift
    code=0
    "$bench" "$@" >"$work/out" 2>"$work/err" || code=$?
    [ "$code" = 2 ] || fail "exit code $code for: $*"
    [ ! -s "$work/out" ] || fail "output for: $*"
    [ "$(wc -l <"$work/err")" = 1 ] || fail "not one line for: $*"
    grep -qF -- "$text" "$work/err" || fail "no '$text' for: $* but: $(cat "$work/err")"
}

refused "unknown option --frobnicate" --frobnicate
refused "unknown option -x" -x
refused "unexpected argument ring" ring
refused "--json wants a value" --json
refused "--threads 0" --threads 0
refused "--threads 1,,2" --threads 1,,2
refused "--threads -1" --threads -1
refused "there are" --threads 100000
refused "--seconds 0" --seconds 0
refused "--seconds fast" --seconds fast
refused "--seconds nan" --seconds nan
refused "--repeats 0" --repeats 0
refused "--memory 1K" --memory 1K
refused "--memory 4000000G" --memory 4000000G
refused "--memory 1T" --memory 1T
refused "no bench or mix" --filter no-such-bench

"$bench" --help >"$work/out"
grep -q -- --filter "$work/out" || fail "--help does not name --filter"
code=0
"$bench" --filter wheel --json "$work/no/such/file" >/dev/null 2>"$work/err" || code=$?
[ "$code" = 1 ] && grep -q "cannot write" "$work/err" || fail "an unwritable file gives $code"

threads=1
[ "$(nproc)" -lt 2 ] || threads=1,2
"$bench" --threads $threads --seconds 0.002 --repeats 2 --memory 8M --json "$work/rows" >"$work/table"
grep -q "^machine " "$work/table" || fail "no machine in the header"
grep -q "^compiler " "$work/table" || fail "no compiler in the header"

python3 - "$work/rows" "$threads" <<'END'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
threads = {int(n) for n in sys.argv[2].split(",")}
assert {row["threads"] for row in rows} == threads, "threads"
measured = {}
for row in rows:
    for field in ("bench", "mix", "impl", "threads", "ops_per_s", "spread"):
        assert field in row, (field, row)
    if row.get("note") == "not installed":
        continue
    # On a busy machine a producer may be off its processor for a whole sample.
    assert row["ops_per_s"] > 0 or "consumer" in row["mix"] or "p/c" in row["mix"], row
    assert row["ops_per_s"] >= 0 and row["spread"] >= 0, row
    measured.setdefault(row["bench"], set()).add(row["impl"])
expected = {
    "ring_spsc": {"lycosa", "mutex", "ck"}, "ring_mpmc": {"lycosa", "mutex", "ck"},
    "queue": {"lycosa", "mutex", "ck", "urcu"}, "queue_mpsc": {"lycosa", "mutex", "urcu"},
    "inbox": {"lycosa", "mutex", "urcu"}, "reclaim": {"lycosa", "mutex", "ck", "urcu"},
    "list": {"lycosa", "mutex"}, "map": {"lycosa", "mutex", "urcu"},
    "signatures": {"lycosa", "mutex", "floor"}, "bloom": {"lycosa", "mutex", "floor"},
    "wheel": {"lycosa", "heap"}, "memory": {"floor"},
}
for bench, impls in expected.items():
    assert impls <= measured.get(bench, set()), (bench, measured.get(bench))
assert any(row["impl"] == "lfds" for row in rows), "lfds is not mentioned"
for row in rows:
    if row["impl"] == "lycosa" and row["bench"] in ("ring_mpmc", "queue", "queue_mpsc", "map") and "batches" not in row["mix"]:
        assert row.get("ratio_to", "ck") in ("ck", "urcu", "lfds"), row
END
echo "bench_lockfree: ok"
