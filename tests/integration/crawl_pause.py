#!/usr/bin/env python3
"""The crawler is stopped for longer than its time-outs and goes on: what came meanwhile is read, nothing is taken for
a failure of the servers."""
import asyncio
import shutil
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from simulated import RUDE, Crawl, main, merge, wait_until  # noqa: E402

# Several times as many as there are receive buffers: what waits does not come in one round.
HOSTS = 300
BODY = b"x" * 50000
TIMEOUT_S = PAUSE_S = 5
TUNING = merge(RUDE, {"robots": {"obey": "no"}})


class Waiting:
    """Hosts on addresses of their own, which answer when `answer` is called, all but a first part that goes out at once."""

    def __init__(self, first_bytes):
        self.first_bytes = first_bytes

    def __enter__(self):
        self.directory = Path(tempfile.mkdtemp(prefix="lycosa-pause-"))
        self.dns = "127.0.0.1:1"  # names are not used
        self.hosts, self.asked = [], 0
        self.loop = asyncio.new_event_loop()
        self.may_answer = asyncio.Event()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        asyncio.run_coroutine_threadsafe(self.listen(), self.loop).result()
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        shutil.rmtree(self.directory)

    async def listen(self):
        for number in range(HOSTS):
            server = await asyncio.start_server(self.serve, f"127.0.{number // 100}.{number % 100 + 1}", 0)
            self.hosts.append("%s:%d" % server.sockets[0].getsockname())

    async def serve(self, reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY
        writer.write(answer[:self.first_bytes])
        await writer.drain()
        self.asked += 1
        await self.may_answer.wait()
        writer.write(answer[self.first_bytes:])
        await writer.drain()
        self.asked -= 1

    def answer(self):
        self.loop.call_soon_threadsafe(self.may_answer.set)

    def seeds(self):
        path = self.directory / "seeds.txt"
        path.write_text("".join(f"http://{host}/\n" for host in self.hosts))
        return path


def crawl_with_pause(connections, first_bytes, timeout_s=TIMEOUT_S):
    def during(crawl):
        wait_until(lambda: web.asked == min(connections, HOSTS), "the requests")
        crawl.process.send_signal(signal.SIGSTOP)
        web.answer()
        wait_until(lambda: web.asked == 0, "the answers")
        time.sleep(PAUSE_S)  # the pause itself
        crawl.process.send_signal(signal.SIGCONT)

    with Waiting(first_bytes) as web:
        tuning = merge(TUNING, {"net": {"connections": connections, "first-byte-timeout": f"{timeout_s}s"}})
        crawl = Crawl(web, tuning, "--threads", "1", during=during)
        assert crawl.code == 0, crawl.stderr
        assert crawl.summary["outcomes"] == {"done": HOSTS}, crawl.summary["outcomes"]
        assert crawl.summary["retries"] == 0, crawl.summary["retries"]


def test_a_pause_is_nobodys_failure():
    crawl_with_pause(400, 0)


def test_after_a_pause_nobody_is_slow():
    """Hosts wait for connections, and those who have them seem to have sent next to nothing for seconds. No time-out is due."""
    crawl_with_pause(HOSTS // 2, 60, 10 * PAUSE_S)


if __name__ == "__main__":
    main([test_a_pause_is_nobodys_failure, test_after_a_pause_nobody_is_slow])
