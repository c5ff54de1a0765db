#!/bin/sh
# bench_crawl runs in its smallest size, writes JSON that can be read, and refuses what it does not know.
set -eu
command -v wrk >/dev/null || exit 77
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

for wrong in --nothing "--repeats 0" "--seconds x" "--urls 0" "--whale x" "--filter (" "--other /nonexistent" unknown-part; do
    code=0
    # shellcheck disable=SC2086 # the option and its value are two words
    "$BUILD_DIR/bench_crawl" $wrong >/dev/null 2>&1 || code=$?
    [ "$code" = 2 ] || { echo "bench_crawl $wrong: exit code $code, not 2"; exit 1; }
done

"$BUILD_DIR/bench_crawl" --quick --json "$directory/figures.json" server stages production loops slots disk known whale | tee "$directory/table"
python3 - "$directory/figures.json" <<'PYTHON'
import json
import sys

figures = json.load(open(sys.argv[1]))
rows = {row["name"]: row for part in figures["parts"] for row in part["rows"]}
for name in ["wrk on one page", "whole crawl from root pages", "whole crawl + WARC gzip", "whole crawl over TLS"]:
    rate = rows[name]["pages_per_s"]
    assert 0 < rate["least"] <= rate["median"] <= rate["most"], (name, rate)
for size, bytes in [("1 KB", 1024), ("10 KB", 10240)]:
    websim, nginx = rows[f"websim, page of about {size}"], rows[f"nginx, file of {size}"]
    assert bytes * 0.8 < websim["bytes_per_answer"]["median"] < bytes * 1.5, websim
    assert websim["server_cpu_us_per_request"]["median"] > 0, websim
    if "note" not in nginx:
        assert nginx["rate_by_nginx"]["median"] == 1 and websim["rate_by_nginx"]["median"] > 0, (nginx, websim)
        assert nginx["server_cpu_us_per_request"]["median"] > 0, nginx
lost = [part for part in figures["parts"] if "compare-and-swaps" in part["title"]][0]["rows"]
for row in lost:
    parts = [figure["median"] for key, figure in row.items() if key not in ("name", "lost_races")]
    assert len(parts) == 7 and sum(parts) == row["lost_races"]["median"], row
for name in ["memory in place of the file", "file in the page cache", "file not in the page cache"]:
    row = rows[name]
    assert row["push_loop_ns"]["median"] > 0 and row["reads_per_url"]["median"] > 0, row
    assert 0.5 < row["bytes_written_per_byte"]["median"] < 1.1, row
long, whole = rows["2 million URLs, 256 MiB"], rows["2 million URLs, 1024 MiB, all in memory"]
assert 0.5 < long["share_on_disk"]["median"] < 1 and whole["share_on_disk"]["median"] == 0, (long, whole)
assert long["rss_megabytes"]["median"] < whole["rss_megabytes"]["median"], (long, whole)
assert rows["beside a long queue on disk"]["pages_by_those_alone"]["median"] >= 0.98, "others wait behind a long queue"
assert rows["beside a long queue in memory"]["pages_by_those_alone"]["median"] < 0.98, "it did not fill the memory"
for name in ["signatures, 16 bytes per URL", "memory for a quarter, then disk", "mercator, 3 bytes", "offline, 3 bytes"]:
    assert rows[name]["million_records_per_s"]["median"] > 0, rows[name]
pairs = {row["name"]: row for part in figures["parts"] if part["title"].startswith("by pairs") for row in part["rows"]}
for pair in ["store none, no journal : store none", "WARC gzip, no index : WARC gzip", "WARC zstd : WARC gzip",
             "store none, near-duplicates : store none", "every URL a seed, on disk : every URL a seed, in memory"]:
    assert pairs[pair]["rate_by_pairs"]["median"] > 0 and "cpu_by_pairs" in pairs[pair], (pair, pairs)
few, many = rows["2,000 hosts, room for 200"], rows["20,000 hosts, room for 200"]
assert 0.5 < few["share_on_disk"]["median"] < many["share_on_disk"]["median"] < 1, (few, many)
assert many["anonymous_megabytes"]["median"] > 100 and few["by_first_row"]["median"] == 1, (few, many)
beside = rows["beside 20000 seeds of one host"]
assert beside["violations"]["median"] == 0 and beside["pages_of_the_whale"]["median"] > 0, beside
assert beside["share_by_pairs"]["median"] > 0.5 and rows["without"]["share_by_pairs"]["median"] == 1, beside
assert rows["wrk on one page"]["rate_by_first_row"]["median"] == 1
assert rows["whole crawl from root pages"]["ring_enters_per_page"]["median"] > 0
PYTHON
grep -q 'whole crawl from root pages' "$directory/table"

# An older build knows no journal and no near-duplicates, and refuses files that speak of them. Its rows are beside those of this one.
mkdir "$directory/old"
cat >"$directory/old/lycosa" <<'SHELL'
#!/bin/sh
without='/^\[state\]$/,/^\[store\]$/{/^\[store\]$/!d;}; /^\[duplicates\]$/,/^\[log\]$/{/^\[log\]$/!d;}'
if [ "$2" = --print-tuning ]; then
    "$BUILD_DIR/lycosa" crawl --print-tuning | sed "$without"
    exit
fi
! grep -q '^.state\|^.duplicates\|^journal\|^kind = near' "$3" || exit 2
exec "$BUILD_DIR/lycosa" "$@"
SHELL
chmod +x "$directory/old/lycosa"
"$BUILD_DIR/bench_crawl" --quick --repeats 2 --other "$directory/old" --filter '^store none' --json "$directory/figures.json" production
python3 - "$directory/figures.json" <<'PYTHON'
import json
import sys

table, pairs = ({row["name"]: row for row in part["rows"]} for part in json.load(open(sys.argv[1]))["parts"][0:2])
names = ["store none", "store none, no journal", "store none, near-duplicates"]
assert sorted(table) == sorted(["wrk on one page", *names, *(name + " (other)" for name in names)]), list(table)
assert "no such key" in table["store none, near-duplicates (other)"]["note"], table
assert table["store none (other)"]["pages_per_s"]["median"] > 0, table
assert sorted(pairs) == sorted(["store none : other build", "store none, no journal : other build", "store none, no journal : store none",
                                "store none, near-duplicates : store none"]), list(pairs)
PYTHON

# Rows of known by their names: two of four, in each of two rounds.
"$BUILD_DIR/bench_crawl" --quick --repeats 2 --known 20000 --filter 'signatures|mercator' --json "$directory/figures.json" known
python3 - "$directory/figures.json" <<'PYTHON'
import json
import sys

rows = json.load(open(sys.argv[1]))["parts"][0]["rows"]
assert [row["name"] for row in rows] == ["signatures, 16 bytes per URL", "mercator, 3 bytes"], rows
assert rows[0]["of_first"]["least"] == rows[0]["of_first"]["most"] == 1 and rows[1]["of_first"]["median"] > 0, rows
PYTHON
