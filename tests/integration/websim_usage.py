#!/usr/bin/env python3
"""What cannot be done is said in one line, with exit code 2; what can be done ends with 0."""
import os
import signal
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import websim
from websim import check

taken = socket.socket()
taken.bind(("127.0.0.1", 0))
taken.listen()
taken_port = str(taken.getsockname()[1])

with tempfile.TemporaryDirectory() as directory:
    nothing = os.path.join(directory, "nothing")
    seeds = os.path.join(directory, "seeds")
    text = os.path.join(directory, "text")
    with open(seeds, "w") as file:
        file.write("http://www.example.com/\n")
    with open(text, "w") as file:
        file.write("not a journal\n" * 1000)
    wrong = [
        ["nonsense"],
        ["truth", "--nonsense"],
        ["truth", "operand"],
        ["truth", "--hosts"],
        ["truth", "--hosts", "ten"],
        ["truth", "--hosts", "0"],
        ["truth", "--seeds", nothing],
        ["truth", "--seeds", seeds],
        ["truth", "--digest", "md5"],
        ["truth", "--fault", "calendar=0.5"],
        ["truth", "--fault", "silent=0.7,refuse=0.7"],
        ["truth", "--gzip", "0.8", "--zstd", "0.8"],
        ["zone", "--hosts", "5", "--addresses", "6"],
        ["zone", "--hosts", "16000000", "--addresses", "15800000"],
        ["zone", "more"],
        ["seeds", "--count", "0"],
        ["serve", "--port", "65536"],
        ["serve", "--port", taken_port],
        ["serve", "--port", "0", "--dns-port", taken_port],
        ["serve", "--threads", "0"],
        ["serve", "--port", "0", "--journal", os.path.join(nothing, "journal")],
        ["serve", "somewhere"],
        ["audit"],
        ["audit", nothing],
        ["audit", text],
        ["audit", text, "--ratio", "-1"],
        ["audit", text, "--killed", "7"],
        ["audit", text, "--killed", "7:8"],
        ["audit", text, "--killed", "8:7:6"],
        ["audit", text, "--connections-per-address", "0"],
        ["journal", "dump"],
        ["journal", "dump", text],
        ["journal", "now", text],
        ["faults", "x"],
    ]
    for arguments in wrong:
        done = subprocess.run([websim.PROGRAM, *arguments], capture_output=True, text=True, timeout=60)
        check(done.returncode == 2, f"{arguments}: exit code {done.returncode}")
        check(done.stderr.count("\n") == 1 and done.stderr.startswith("websim"), f"{arguments}: said {done.stderr!r}")

for arguments in (["help"], ["--help"], ["truth", "--help"], ["serve", "--help"], ["audit", "--help"], ["faults"],
                  ["zone", "--hosts", "3"]):
    done = subprocess.run([websim.PROGRAM, *arguments], capture_output=True, text=True, timeout=60)
    check(done.returncode == 0 and done.stdout and not done.stderr, f"{arguments}: {done.returncode} {done.stderr}")

check(subprocess.run([websim.PROGRAM], capture_output=True).returncode == 2, "without a command")
for number in (signal.SIGTERM, signal.SIGINT):
    process = subprocess.Popen([websim.PROGRAM, "serve", "--port", "0", "--hosts", "3"], stdout=subprocess.PIPE)
    process.stdout.readline()
    process.send_signal(number)
    check(process.wait(30) == 0, f"signal {number}: exit code {process.returncode}")
check(subprocess.run([websim.PROGRAM, "serve", "--port", "0", "--seconds", "1"], capture_output=True).returncode == 0,
      "--seconds")
websim.finish()
