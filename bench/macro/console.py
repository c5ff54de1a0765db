#!/usr/bin/env python3
"""What the console costs a crawl: pages per second and processor time per page with a page open and without, in turns, and the
processor time of the console's thread. BUILD_DIR=build/release bench/macro/console.py [PAIRS [SECONDS]]

The page is a reader that asks for what the page asks for: the stream of events, all counters each second, /metrics every five. It
costs the machine less than a browser does, and the crawl's process the same."""
import http.client
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "support"))
from simulated import BUILD, RUDE, SMALL, Web, merge, tuning_text, wait_until  # noqa: E402

CONSOLE_NICE = 10  # of all threads, only the console's


def open_page(info, is_ending):
    """Asks as the page does, until the crawl ends."""
    port = int(info["url"].split(":")[2].split("/")[0])
    head = {"Authorization": "Bearer " + info["token"]}

    def ask(path):
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        client.request("GET", path, headers=head)
        return client, client.getresponse()
    try:
        ask("/")[1].read()
        ask("/api/v1/samples?step=1")[1].read()
        client, stream = ask("/api/v1/events")
        for turn in range(1 << 20):
            while stream.readline().strip():
                pass
            ask("/api/v1/crawl")[1].read()
            if turn % 5 == 0:
                ask("/metrics")[1].read()
            if is_ending.is_set():
                break
        client.close()
    except (OSError, http.client.HTTPException):
        pass  # the crawl has ended


def console_seconds(pid):
    """Processor time of the console's thread so far."""
    for stat in Path(f"/proc/{pid}/task").glob("*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[16]) == CONSOLE_NICE:
            return int((stat.parent / "schedstat").read_text().split()[0]) / 1e9
    return None


def crawl(web, seconds, has_page):
    """(pages per second, processor time per page in microseconds, share of a processor that the console's thread took)"""
    with tempfile.TemporaryDirectory() as folder:
        directory, tuning = Path(folder) / "crawl", Path(folder) / "tuning.ini"
        tuning.write_text(tuning_text(merge(RUDE, SMALL, {"scope": {"mode": "any"}, "net": {"dns-servers": web.dns}, "store": {"kind": "none"},
                                                    "memory": {"sieve": "64MiB"}, "crawl": {"threads": "1"},
                                                    "control": {"listen": "127.0.0.1:0"}})))
        process = subprocess.Popen([BUILD / "lycosa", "crawl", "-c", tuning, "-o", directory, "--max-time", f"{seconds}s", web.directory / "seeds.txt"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: (directory / "control.json").exists(), "the console")
        time.sleep(0.2)
        info, is_ending, used, last = json.loads((directory / "control.json").read_text()), threading.Event(), 0, time.monotonic()
        page = threading.Thread(target=open_page, args=(info, is_ending))
        if has_page:
            page.start()
        begun = time.monotonic()
        while process.poll() is None:
            now = console_seconds(process.pid)
            used, last = (now, time.monotonic()) if now is not None else (used, last)
            time.sleep(0.2)
        is_ending.set()
        if has_page:
            page.join()
        summary = json.loads((directory / "summary.json").read_text())
        assert summary["end"] == "time", summary["end"]
        return summary["pages"] / summary["running_seconds"], summary["cpu_seconds"] / summary["pages"] * 1e6, used / (last - begun)


def main():
    pairs, seconds = (int(sys.argv[place]) if len(sys.argv) > place else usual for place, usual in ((1, 8), (2, 6)))
    with Web("--hosts", "4000", "--pages", "400", "--plain", "--seed", "3") as web:
        web.seeds()
        crawl(web, 3, False)  # files and processors get warm
        rows = []
        for _ in range(pairs):
            rows.append((crawl(web, seconds, False), crawl(web, seconds, True)))
            for name, (rate, cost, share) in zip(("without a page", "with a page   "), rows[-1]):
                print(f"{name} {rate:8.0f} pages/s {cost:6.2f} us/page, console {share * 100:.2f}% of a core", flush=True)
    for what, place in (("pages/s", 0), ("us/page", 1)):
        ratios = [watched[place] / alone[place] for alone, watched in rows]
        error = statistics.stdev(ratios) / len(ratios) ** 0.5 if len(ratios) > 1 else float("nan")
        medians = [statistics.median(row[side][place] for row in rows) for side in (0, 1)]
        print(f"{what}: with a page {medians[1] / medians[0]:.4f} of without by the medians, {statistics.mean(ratios):.4f} +- {error:.4f} by pairs")
    print("console's thread: " + ", ".join(f"{statistics.mean(row[side][2] for row in rows) * 100:.2f}% of a core {name}"
                                           for side, name in ((0, "without"), (1, "with a page"))))


if __name__ == "__main__":
    main()
