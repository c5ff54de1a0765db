#!/usr/bin/env python3
"""lycosa robots as a person uses it."""
import json, os, subprocess, tempfile

LYCOSA = os.path.join(os.environ["BUILD_DIR"], "lycosa")
RULES = "User-agent: *\nDisallow: /private\nAllow: /private/open$\nDisallow: /*?sort=\n\nUser-agent: other\nDisallow: /\n"


def run(arguments, text="", code=0):
    done = subprocess.run([LYCOSA, "robots", *arguments], input=text.encode(), capture_output=True)
    assert done.returncode == code, (arguments, done.returncode, done.stderr)
    return done.stdout.decode().splitlines(), done.stderr.decode()


def check(actual, expected):
    assert actual == expected, f"got {actual!r}, expected {expected!r}"


with tempfile.NamedTemporaryFile("w", suffix=".txt") as rules:
    rules.write(RULES)
    rules.flush()
    lycosa = ["--agent", "lycosa", rules.name]
    check(run(lycosa + ["http://h/private/x", "https://h/private/open", "/a?sort=1", "http://h/", "mailto:x"])[0],
          ["disallow\thttp://h/private/x\tDisallow: /private", "allow\thttps://h/private/open\tAllow: /private/open$",
           "disallow\t/a?sort=1\tDisallow: /*?sort=", "allow\thttp://h/\tno rule", "error: not http or https\tmailto:x"])
    check(run(["--agent", "Other/1.0", rules.name, "/"])[0], ["disallow\t/\tDisallow: /"])
    check([json.loads(line) for line in run(["--json"] + lycosa + ["/private", "/", "x"])[0]],
          [{"url": "/private", "allowed": False, "rule": "disallow", "pattern": "/private"}, {"url": "/", "allowed": True},
           {"url": "x", "error": "relative, without a base"}])
    check(run(lycosa, "/private\n/x")[0], ["disallow\t/private\tDisallow: /private", "allow\t/x\tno rule"])
    check(run(["--agent", "lycosa", "-", "/private"], RULES)[0], ["disallow\t/private\tDisallow: /private"])
    many = run(lycosa, "".join(f"http://h/private/{i}\n" for i in range(100000)))[0]
    check((len(many), many[-1]), (100000, "disallow\thttp://h/private/99999\tDisallow: /private"))
    assert "usage" in run([rules.name, "/"], code=2)[1]
    assert "usage" in run(["--agent", "x"], code=2)[1]
    assert "usage" in run(["--agent", "x", "-"], code=2)[1]
assert "No such file" in run(["--agent", "x", "/nonexistent/robots.txt", "/"], code=1)[1]
