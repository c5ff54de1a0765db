#!/usr/bin/env python3
"""lycosa fingerprint as a person uses it."""
import base64, hashlib, os, re, subprocess, tempfile

LYCOSA = os.path.join(os.environ["BUILD_DIR"], "lycosa")
WORDS = [f"{a}{b}word" for a in "bcdfghklmn" for b in ("a", "e", "i", "o", "u", "ar", "el", "in", "os", "um")]


def run(arguments, data=b"", code=0):
    done = subprocess.run([LYCOSA, "fingerprint", *arguments], input=data, capture_output=True)
    assert done.returncode == code, (arguments, done.returncode, done.stderr)
    return [line.split("\t") for line in done.stdout.decode().splitlines()], done.stderr.decode()


def digest(data):
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


def page(words, date):
    return f"<html><title>A page</title><p class=x>{' '.join(words)}</p><p>{date}</p>".encode()


with tempfile.TemporaryDirectory() as folder:
    pages = {"first": page(WORDS, "Monday, 3 March 2025"), "again": page(WORDS, "Friday, 7 May 2027, 10:15 pm"),
             "upper": page([word.upper() for word in WORDS], ""), "other": page(reversed(WORDS), ""),
             "short": b"<p>Not found</p>", "empty": b""}
    paths = {name: os.path.join(folder, name) for name in pages}
    for name, data in pages.items():
        with open(paths[name], "wb") as file:
            file.write(data)
    lines, _ = run(paths.values())
    for line, (name, data) in zip(lines, pages.items()):
        words = {"short": 2, "empty": 0}.get(name, len(WORDS) + 2)
        assert line[1:] == [digest(data), f"{words} words", paths[name]], line
        assert re.fullmatch("[0-9a-f]{16}" if words > 16 else "- *", line[0]), line
    assert lines[0][0] == lines[1][0] == lines[2][0] != lines[3][0]
    assert len(lines) == 6 + 15, lines
    distances = {(a, b): distance for distance, a, b in lines[6:]}
    differ = bin(int(lines[0][0], 16) ^ int(lines[3][0], 16)).count("1")
    assert distances[paths["first"], paths["again"]] == "0 bits", distances
    assert distances[paths["first"], paths["other"]] == f"{differ} bits" and differ > 10, distances
    assert distances[paths["other"], paths["short"]] == "- bits", distances
    alone, _ = run(["-"], pages["first"])
    assert alone == [[lines[0][0], *lines[0][1:3], "-"]], alone
    missing, message = run([paths["first"], os.path.join(folder, "missing")], code=1)
    assert len(missing) == 1 and "missing: No such file" in message, message
assert "usage" in run([], code=2)[1]
assert "usage" in run(["--wrong"], code=2)[1]
assert "usage" in run(["--help"])[0][0][0]
