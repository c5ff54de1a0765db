#!/usr/bin/env python3
"""The Debian package: tools/package makes it, lintian is silent, and on a bare Debian 12 it installs, crawls as the service's
user, and goes again. Takes minutes, root and a mirror: with LYCOSA_LONG only."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WANTED = {"dpkg-buildpackage": "dpkg-dev", "dh": "debhelper", "lintian": "lintian", "debootstrap": "debootstrap"}
# In the bare system: a web, and a crawl of it as the unit would start it.
CRAWL = r"""
websim serve --hosts 3 --pages 10 --port 0 --dns-port 0 --no-pin --until-eof >/srv/ports < <(sleep 60) &
for i in $(seq 100); do [ -s /srv/ports ] && break; sleep 0.1; done
port() { sed -n "s/.*$1 [0-9.]*:\([0-9]*\).*/\1/p" /srv/ports; }
websim seeds --hosts 3 --pages 10 --port "$(port http)" >/etc/lycosa/try.seeds
printf '[net]\ndns-servers = 127.0.0.1:%s\n[politeness]\nhost-min-idle = 10ms\nhost-ratio = 100\n' "$(port dns)" >/etc/lycosa/try.ini
install -d -o _lycosa -g _lycosa /var/lib/lycosa /var/lib/lycosa/try
setpriv --reuid=_lycosa --regid=_lycosa --clear-groups \
    lycosa crawl --continue /var/lib/lycosa/try -c /etc/lycosa/try.ini --max-time 60s /etc/lycosa/try.seeds
code=$?
kill %1
exit $code
"""


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    return done.returncode, done.stdout + done.stderr


class Bare:
    """A system of Debian's required packages alone."""

    def __init__(self, folder):
        self.root = folder / "bare"

    def __enter__(self):
        _, sites = run("apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages", "Origin: Debian", "Label: Debian")
        code, said = run("debootstrap", "--variant=minbase", "bookworm", self.root, sites.split()[0])
        assert code == 0, said[-2000:]
        subprocess.run(["mount", "-t", "proc", "proc", self.root / "proc"], check=True)
        shutil.copy("/etc/resolv.conf", self.root / "etc" / "resolv.conf")
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", self.root / "proc"], check=True)

    def run(self, *command):
        return run("chroot", self.root, *command, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, timeout=1200)

    def ours(self):
        """What on its disk has our name."""
        found = []
        for folder, folders, files in os.walk(self.root):
            if Path(folder) == self.root:
                folders[:] = [name for name in folders if name not in ("proc", "srv")]  # what runs, and what we put there
            found += [os.path.join(folder, name) for name in folders + files if re.search("lycosa|websim", name)]
        return found


def check_crawl(bare):
    code, said = bare.run("bash", "-c", CRAWL)
    assert code == 0 and "(complete)" in said, said
    code, said = bare.run("lycosa", "archive", "check", "/var/lib/lycosa/try")
    assert code == 0 and "good: " in said, said
    assert (bare.root / "var/lib/lycosa/try/crawl.log").stat().st_uid != 0


def check_purge(bare):
    """Crawls stay, with their user; without any nothing does."""
    code, said = bare.run("dpkg", "--purge", "lycosa")
    assert code == 0 and "left alone" in said and (bare.root / "var/lib/lycosa/try/crawl.log").exists(), said
    shutil.rmtree(bare.root / "var/lib/lycosa")
    shutil.rmtree(bare.root / "etc/lycosa")
    assert bare.run("dpkg", "-i", "/srv/lycosa.deb")[0] == 0
    code, said = bare.run("dpkg", "--purge", "lycosa")
    assert code == 0 and not bare.ours(), (said, bare.ours())
    assert "_lycosa" not in (bare.root / "etc/passwd").read_text() + (bare.root / "etc/group").read_text()


if os.environ.get("LYCOSA_LONG") != "ON":
    skip("takes minutes: LYCOSA_LONG")
if os.geteuid() != 0:
    skip("must be root")
missing = [package for command, package in WANTED.items() if not shutil.which(command)]
if missing:
    skip("apt-get install " + " ".join(missing))
with tempfile.TemporaryDirectory(prefix="lycosa-package-") as name:
    folder = Path(name)
    code, said = run(ROOT / "tools" / "package", "--output", folder / "made")
    assert code == 0, said[-3000:]
    with Bare(folder) as bare:
        shutil.copy(next((folder / "made").glob("lycosa_*.deb")), bare.root / "srv" / "lycosa.deb")
        code, said = bare.run("sh", "-c", "apt-get -qq update && apt-get install -y -qq --no-install-recommends /srv/lycosa.deb")
        assert code == 0, said[-2000:]
        assert (bare.root / "usr/share/lycosa/grafana/lycosa.json").exists()
        check_crawl(bare)
        code, said = bare.run("systemd-analyze", "verify", "--man=no", "/lib/systemd/system/lycosa@.service")
        assert code == 0 and not said, said
        check_purge(bare)
print("1 ran")
