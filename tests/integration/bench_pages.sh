#!/bin/sh
# bench_content, bench_store and bench/macro/report.py run in a small size and have rows for real pages and for websim's.
set -eu
for program in bench_content bench_store; do
    [ -x "$BUILD_DIR/$program" ] || { echo "$program is not built here"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "FAILED: $*"
    exit 1
}

# Row NAME of a file has COLUMN above 0.
check_row() {
    awk -v name="$2" -v column="$3" 'index($0, name " ") == 1 && $(column) + 0 > 0 { found = 1 } END { exit !found }' "$1" ||
        fail "no row $2: $(cat "$1")"
}

mkdir "$work/html"
yes '<p>A page with <a href="/words">words</a> that are read.</p>' | head -n 100 >"$work/html/page.html"
for corpora in "$work" "$work/absent"; do
    "$BUILD_DIR/bench_content" --corpora "$corpora" --rounds 1 --sample-ms 1 --filter simhash >"$work/content"
    "$BUILD_DIR/bench_store" --corpora "$corpora" --rounds 1 --page 2048 --only plain >"$work/store"
    check_row "$work/content" "simhash/websim page" 4
    # A row of bench_store ends with microseconds and bytes of each kind.
    check_row "$work/store" "plain, no block digest" 7
    grep -q "^websim's pages: 999 of 9[0-9]* bytes" "$work/store" || fail "other pages: $(cat "$work/store")"
done
grep -q "^simhash/page .*skipped" "$work/content" || fail "pages out of nowhere: $(cat "$work/content")"
"$BUILD_DIR/bench_content" --corpora "$work" --rounds 1 --sample-ms 1 --filter text/page >"$work/content"
check_row "$work/content" "text/page" 3
"$BUILD_DIR/bench_store" --corpora "$work" --rounds 1 --page 2048 --only "gzip 1" >"$work/store"
grep -q "^pieces of real pages: 2 of 2048 bytes" "$work/store" || fail "other pieces: $(cat "$work/store")"

TMPDIR=$work bench/macro/report.py 3000 1 >"$work/report"
grep -q "^3000 lines, 1 repeats" "$work/report" || fail "other lines: $(cat "$work/report")"
check_row "$work/report" "lycosa report" 3
check_row "$work/report" "wc -l" 3
[ -z "$(find "$work" -name 'bench_report*')" ] || fail "report.py left files behind"
echo "bench_pages: ok"
