#!/usr/bin/env python3
"""tools/setup with an apt of the test's own: which packages it asks for, and what it does with a mirror that is out of
date."""
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

SETUP = Path(__file__).resolve().parents[2] / "tools" / "setup"
# Each notes how it was called. What is not installed is in $MISSING; $EXPIRED: the mirror's lists are past their
# date; $UNSIGNED: they have no good signature.
TOOLS = {
    "dpkg-query": r'''shift 2; for package; do case " $MISSING " in *" $package "*) ;; *) printf "installed $package " ;; esac; done''',
    "dpkg": r'''[ "$1" = -x ] && mkdir -p "$3/usr/lib/x86_64" && basename "$2" >>"$LOG/unpacked"; exit 0''',
    "apt-cache": r'''echo "$*" | grep -q 'liburing-dev$' && printf "liburing-dev\n  Depends: liburing7\n  Depends: libc6\n"; exit 0''',
    "pkg-config": "exit 1",
    "ldconfig": "exit 0",
    "id": "echo 0",
    "apt-get": r'''case " $* " in
*indextargets*) echo http://mirror.invalid/debian ;;
*" update "*) if [ -n "$UNSIGNED" ]; then echo "E: The repository is not signed." >&2; exit 100; fi
    if [ -n "$EXPIRED" ] && ! echo "$*" | grep -q Check-Valid-Until=false; then
    echo "E: Release file for http://mirror.invalid is expired (invalid since 3d)." >&2; exit 100; fi ;;
*" install "*) echo "$*" >>"$LOG/installed" ;;
*" download "*) shift; while [ "$1" != download ]; do shift; done; shift; for name; do touch "${name}_1.0_amd64.deb"; done ;;
esac''',
}


class Machine:
    """A copy of tools/setup in a tree of its own, with TOOLS before all others."""

    def __enter__(self):
        self.root = Path(tempfile.mkdtemp(prefix="lycosa-setup-"))
        for folder in ("tree/tools", "bin", "log"):
            (self.root / folder).mkdir(parents=True)
        shutil.copy(SETUP, self.root / "tree" / "tools" / "setup")
        for name, body in TOOLS.items():
            path = self.root / "bin" / name
            path.write_text(f"#!/bin/bash\n{body}\n")
            path.chmod(0o755)
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.root)

    def run(self, *arguments, **environment):
        environment = {**os.environ, "MISSING": "", "EXPIRED": "", "UNSIGNED": "", **environment, "LOG": str(self.root / "log"),
                       "PATH": f"{self.root / 'bin'}:{os.environ['PATH']}"}
        return subprocess.run([self.root / "tree" / "tools" / "setup", *arguments], capture_output=True, text=True,
                              env=environment, timeout=60)

    def noted(self, name):
        path = self.root / "log" / name
        return path.read_text().split() if path.exists() else []


def test_a_run_needs_less_than_the_tests():
    with Machine() as machine:
        done = machine.run(MISSING="gcc valgrind clang-14 nginx-light wget2")
        assert done.returncode == 0 and "installing gcc\n" in done.stdout, (done.stdout, done.stderr)
        assert "gcc" in machine.noted("installed") and "valgrind" not in machine.noted("installed")
        done = machine.run("--all", MISSING="valgrind clang-14")
        assert done.returncode == 0 and "valgrind" in machine.noted("installed"), (done.stdout, done.stderr)


def test_the_number_of_a_library_is_asked_of_apt():
    with Machine() as machine:
        assert machine.run().returncode == 0
        assert {"liburing7_1.0_amd64.deb", "liburing-dev_1.0_amd64.deb"} <= set(machine.noted("unpacked")), machine.noted("unpacked")
        assert machine.run().stdout == ""  # all is there


def test_a_list_past_its_date_is_taken_and_told():
    with Machine() as machine:
        done = machine.run(EXPIRED="yes")
        assert done.returncode == 0 and "list of forky is past its date" in done.stdout, (done.stdout, done.stderr)
        assert "libpicohttpparser-dev_1.0_amd64.deb" in machine.noted("unpacked")


def test_a_list_that_is_not_signed_is_refused():
    with Machine() as machine:
        done = machine.run(UNSIGNED="yes")
        assert done.returncode == 1 and "not signed" in done.stderr and not machine.noted("unpacked"), (done.stdout, done.stderr)


for test in [value for name, value in list(globals().items()) if name.startswith("test_")]:
    print(f"{test.__name__} ...", flush=True)
    test()
