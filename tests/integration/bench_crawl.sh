#!/bin/sh
# bench_crawl runs in its smallest size, writes JSON that can be read, and refuses what it does not know.
set -eu
command -v wrk >/dev/null || exit 77
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

for wrong in --nothing "--repeats 0" "--seconds x" unknown-part; do
    code=0
    # shellcheck disable=SC2086 # the option and its value are two words
    "$BUILD_DIR/bench_crawl" $wrong >/dev/null 2>&1 || code=$?
    [ "$code" = 2 ] || { echo "bench_crawl $wrong: exit code $code, not 2"; exit 1; }
done

"$BUILD_DIR/bench_crawl" --quick --json "$directory/figures.json" server stages loops slots disk known | tee "$directory/table"
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
for name in ["signatures, 16 bytes per URL", "signatures, 4 bytes, then disk", "mercator, 3 bytes", "offline, 3 bytes"]:
    assert rows[name]["million_records_per_s"]["median"] > 0, rows[name]
assert rows["wrk on one page"]["rate_by_first_row"]["median"] == 1
assert rows["whole crawl from root pages"]["ring_enters_per_page"]["median"] > 0
PYTHON
grep -q 'whole crawl from root pages' "$directory/table"
