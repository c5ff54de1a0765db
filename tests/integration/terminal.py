#!/usr/bin/env python3
"""The status on a terminal: a block that stays in its place, fits the window, and tells how far the crawl is."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from simulated import BUILD, IMPATIENT, Web, base_tuning, main, merge, tuning_text  # noqa: E402

SLOW = {"net": {"bandwidth": "200KB"}, "politeness": {"host-ratio": "10", "host-min-idle": "10ms"}}


class Screen:
    """As much of a terminal as the status needs: text, up, the end of the line, the rest of the screen. Wraps, as they do."""

    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.lines, self.row, self.column, self.scrolled, self.wraps = [""] * rows, 0, 0, 0, 0

    def feed(self, text):
        for escape, up, control, character in re.findall(r"(\x1b\[(\d*)[A-Z])|([\r\n])|([^\x1b])", text):
            if escape:
                self.obey(escape[-1], int(up or 1))
            elif control == "\r":
                self.column = 0
            elif control == "\n":
                self.down()
            else:
                self.put(character)

    def obey(self, letter, count):
        assert letter in "AKJ", letter
        if letter == "A":
            assert self.row >= count, "the block begins above the screen"
            self.row -= count
        else:
            self.lines[self.row] = self.lines[self.row][:self.column]
        if letter == "J":
            self.lines[self.row + 1:] = [""] * (self.rows - self.row - 1)

    def down(self):
        self.row += 1
        if self.row == self.rows:
            self.lines = self.lines[1:] + [""]
            self.row -= 1
            self.scrolled += 1

    def put(self, character):
        if self.column == self.columns:
            self.wraps += 1
            self.column = 0
            self.down()
        line = self.lines[self.row].ljust(self.column)
        self.lines[self.row] = line[:self.column] + character + line[self.column + 1:]
        self.column += 1


def crawl_on(web, columns, rows, *arguments, seconds=12):
    """The screen after each moment at which something came; the crawl is ended by a signal after a while."""
    path, master_slave = web.directory / "tuning.ini", pty.openpty()
    path.write_text(tuning_text(merge(base_tuning(web), IMPATIENT, SLOW)))
    master, slave = master_slave
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))
    process = subprocess.Popen([BUILD / "lycosa", "crawl", "-c", path, "-o", web.directory / f"crawl-{columns}-{rows}", *arguments, web.seeds()],
                               stdout=subprocess.DEVNULL, stderr=slave)
    os.close(slave)
    screen, shown, end = Screen(columns, rows), [], time.monotonic() + seconds
    while True:
        try:
            text = os.read(master, 65536).decode()
        except OSError:  # the crawl has closed it
            break
        screen.feed(text)
        shown.append("\n".join(screen.lines))
        if time.monotonic() > end:
            process.terminate()
            end = float("inf")
    os.close(master)
    assert process.wait(60) in (0, 11), process.returncode
    return screen, shown


def test_a_block_stays_in_its_place():
    with Web("--hosts", "40", "--pages", "50") as web:
        for columns, rows in ((80, 24), (40, 24), (40, 8)):
            screen, shown = crawl_on(web, columns, rows, "--max-pages", "1000", seconds=6)
            assert screen.wraps == 0 and len(shown) > 5, (columns, screen.wraps, len(shown))
            for picture in shown:
                assert len(re.findall("^  pages ", picture, re.M)) <= 1, picture
            running = [picture for picture in shown if "crawling to" in picture]
            bars = [re.search(r"^  \[([#-]+)\] (\d+)% of max-pages", picture, re.M) for picture in running]
            assert len(running) > 3 and all(bars), running[:1]
            shares = [int(bar.group(2)) for bar in bars]
            assert shares == sorted(shares) and shares[-1] > shares[0], shares
            for bar in bars:
                assert abs(bar.group(1).count("#") / len(bar.group(1)) * 100 - int(bar.group(2))) <= 100 / len(bar.group(1)), bar.group()
            assert rows < 24 or any("bandwidth" in picture for picture in running), running[-1]


def test_the_time_left_is_told():
    with Web("--hosts", "10", "--pages", "10") as web:
        _, shown = crawl_on(web, 80, 24, "--max-time", "9s", seconds=30)
        left = [int(found.group(1)) for picture in shown if (found := re.search(r"% of max-time, (\d+) s left", picture))]
        assert left and left == sorted(left, reverse=True) and max(left) <= 9, left


if __name__ == "__main__":
    main([test_a_block_stays_in_its_place, test_the_time_left_is_told])
