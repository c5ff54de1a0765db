#!/usr/bin/env python3
"""cmake --install: what it puts where, and that it works from there. The example tuning files do what they say."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from simulated import BUILD, Web, main  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]


class Installed:
    """The programs below a prefix of their own."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="lycosa-install-")
        self.prefix = Path(self.folder.name) / "usr"
        subprocess.run(["cmake", "--install", BUILD, "--prefix", self.prefix], check=True, capture_output=True)
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def run(self, program, *arguments):
        return subprocess.run([self.prefix / "bin" / program, *arguments], capture_output=True, text=True, timeout=240)


def test_programs_run_from_there():
    with Installed() as installed:
        version = re.search(r"project\(lycosa .* VERSION ([\d.]+)\)", (ROOT / "CMakeLists.txt").read_text()).group(1)
        for program in ("lycosa", "websim"):
            done = installed.run(program, "--version")
            assert done.stdout == f"{program} {version}\n", done
            path = installed.prefix / "bin" / program
            dynamic = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
            assert str(ROOT) not in dynamic, f"{program} looks for libraries in the source tree"
            libraries = subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout
            assert "not found" not in libraries and str(ROOT) not in libraries, libraries


def test_everything_is_in_its_place():
    with Installed() as installed:
        share = installed.prefix / "share"
        names = {str(path.relative_to(installed.prefix)) for path in installed.prefix.rglob("*") if path.is_file()}
        for name in ("share/man/man1/lycosa.1", "share/man/man1/lycosa-crawl.1", "share/man/man1/websim.1",
                     "share/man/man5/lycosa.ini.5", "share/bash-completion/completions/lycosa",
                     "share/bash-completion/completions/websim", "share/zsh/site-functions/_lycosa",
                     "share/fish/vendor_completions.d/lycosa.fish", "share/doc/lycosa/README.md",
                     "share/doc/lycosa/CHANGELOG.md", "share/doc/lycosa/examples/one-site.ini",
                     "share/lycosa/grafana/lycosa.json", "share/lycosa/grafana/alerts.yml", "lib/sysusers.d/lycosa.conf", "lib/systemd/system/lycosa@.service"):
            assert name in names, (name, sorted(names))
        assert len(list((share / "man" / "man1").iterdir())) >= 10
        done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-M", share / "man", "lycosa-crawl"], capture_output=True,
                              text=True, env={**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"})
        assert done.returncode == 0 and not done.stderr and "--continue DIR" in done.stdout, done


def test_the_unit_is_sound():
    with Installed() as installed:
        unit = installed.prefix / "lib" / "systemd" / "system" / "lycosa@.service"
        text = unit.read_text()
        assert f"ExecStart={installed.prefix}/bin/lycosa crawl --continue " in text, text
        option = re.search(r"crawl (--\w+) %S", text).group(1)
        assert option in installed.run("lycosa", "crawl", "--help").stdout
        for line in ("Type=notify", "SuccessExitStatus=11", "RestartPreventExitStatus=2 3 4 5", "LimitMEMLOCK=infinity"):
            assert f"\n{line}\n" in text, line
        if not shutil.which("systemd-analyze"):
            print("  (systemd-analyze is not here)")
            return
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True)
        assert done.returncode == 0 and not done.stderr, done.stderr
        done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager", unit],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-300:]  # exposed to 2.0 of 10 at most


def test_examples_can_be_read():
    examples = sorted((ROOT / "tools" / "examples").glob("*.ini"))
    assert len(examples) == 3
    for example in examples:
        # What is wrong in it is found before the directory is made, which cannot be.
        done = subprocess.run([BUILD / "lycosa", "crawl", "--threads", "1", "-c", example, "-o", "/dev/null/x", "http://127.0.0.1:1/"],
                              capture_output=True, text=True)
        assert done.returncode == 1 and "/dev/null/x: Not a directory" in done.stderr, (example, done)


def test_the_example_of_one_site_archives_it():
    with Web("--hosts", "3", "--pages", "12", "--robots-closed", "0", "--robots-error", "0", "--external", "0.5") as web:
        tuning, directory = web.directory / "one-site.ini", web.directory / "crawl"
        text = (ROOT / "tools" / "examples" / "one-site.ini").read_text()
        assert "\n[net]\n" not in text
        tuning.write_text(text.replace("host-ratio = 0.1\nhost-min-idle = 1s", "host-ratio = 10\nhost-min-idle = 10ms") +
                          f"\n[net]\ndns-servers = {web.dns}\n")
        seed = web.seeds("--count", "1").read_text().strip()
        done = subprocess.run([BUILD / "lycosa", "crawl", "-c", tuning, "-o", directory, "--max-time", "60s", seed],
                              capture_output=True, text=True, timeout=240)
        assert done.returncode == 0 and "(complete)" in done.stdout, done
        rows = [line.split() for line in (directory / "crawl.log").read_text().splitlines()]
        pages = [row[3] for row in rows if row[1] == "200" and row[6] == "text/html"]
        assert pages and all(page.startswith(seed) for page in pages), pages
        checked = subprocess.run([BUILD / "lycosa", "archive", "check", directory], capture_output=True, text=True)
        assert checked.returncode == 0, checked
        body = subprocess.run([BUILD / "lycosa", "archive", "get", directory, seed], capture_output=True)
        assert body.returncode == 0 and b"<html" in body.stdout.lower(), body.stderr


main([test_programs_run_from_there, test_everything_is_in_its_place, test_the_unit_is_sound, test_examples_can_be_read,
      test_the_example_of_one_site_archives_it])
