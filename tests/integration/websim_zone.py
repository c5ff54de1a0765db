#!/usr/bin/env python3
"""A stock DNS server serves the zone file, and says what websim's own DNS says."""
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import websim
from websim import check

NSD = shutil.which("nsd") or "/usr/sbin/nsd"
if not os.path.exists(NSD):
    print("nsd is not installed")
    sys.exit(77)


def free_port():
    """Free in UDP and in TCP."""
    while True:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp, socket.socket() as tcp:
            udp.bind(("127.0.0.1", 0))
            try:
                tcp.bind(udp.getsockname())
                return udp.getsockname()[1]
            except OSError:
                continue


with tempfile.TemporaryDirectory() as directory, websim.Server("--hosts", 300, "--fault", "nxdomain=0.1,servfail=0.1") as server:
    zone, config, port = os.path.join(directory, "zone"), os.path.join(directory, "nsd.conf"), free_port()
    with open(zone, "w") as file:
        file.write(server.command("zone"))
    with open(config, "w") as file:
        file.write(f'server:\n  ip-address: 127.0.0.1@{port}\n  username: ""\n  chroot: ""\n  zonesdir: "{directory}"\n'
                   f'  database: ""\n  pidfile: "{directory}/pid"\n  xfrdfile: ""\n  zonelistfile: "{directory}/zones"\n'
                   f'  server-count: 1\nremote-control:\n  control-enable: no\nzone:\n  name: "."\n  zonefile: "{zone}"\n')
    log = open(os.path.join(directory, "log"), "w+")
    nsd = subprocess.Popen([NSD, "-d", "-c", config], stdout=log, stderr=log)
    try:
        own = server.ports["dns"]
        names = [websim.split(url)[0] for url in server.command("seeds", "--count", 300).split()]
        deadline = time.monotonic() + 30
        while True:
            server.ports["dns"] = port
            try:
                server.query(names[0], timeout=1)
                break
            except OSError:
                if nsd.poll() is not None or time.monotonic() > deadline:
                    log.seek(0)
                    sys.exit(f"nsd does not answer: {log.read()}")
        for name in names + ["h1.d1.nowhere.sim", "h300.d0.sim"]:
            answers = []
            for server.ports["dns"] in (own, port):
                answers.append(server.query(name))
            check(answers[0] == answers[1], f"{name}: {answers}")
        check(len(names) > 200, f"{len(names)} names")
    finally:
        nsd.terminate()
        nsd.wait(30)
websim.finish()
