#!/usr/bin/env python3
"""lycosa url as a person uses it: in a pipe, with its options, on wrong options, and on the standard's cases."""
import json, os, subprocess, sys

LYCOSA = os.path.join(os.environ["BUILD_DIR"], "lycosa")
CASES = "../shared/corpora/url/urltestdata.json"


def run(arguments, text, code=0):
    done = subprocess.run([LYCOSA, "url", *arguments], input=text.encode(), capture_output=True)
    assert done.returncode == code, (arguments, done.returncode, done.stderr)
    return done.stdout.decode().splitlines(), done.stderr.decode()


def check(actual, expected):
    assert actual == expected, f"got {actual!r}, expected {expected!r}"


def options():
    check(run([], "HTTP://A.b:80/../x#y\nmailto:x\nx\n")[0],
          ["http://a.b/x#y", "error: not http or https", "error: relative, without a base"])
    check(run(["--base", "http://h/a/b"], "c\n/d\n\n?e")[0], ["http://h/a/c", "http://h/d", "http://h/a/b", "http://h/a/b?e"])
    check(run(["--canonical", "default,www"], "http://u@www.x.org/a#b\n")[0], ["http://x.org/a"])
    check(run(["--surt"], "https://www.x.org/A\n")[0], ["https://(org,x,www,)/a"])
    row = json.loads(run(["--json", "--surt"], 'http://u:p@www.x.co.uk:81/a"?b#c\n')[0][0])
    hash_of_page = row.pop("hash")
    check(row, {"input": 'http://u:p@www.x.co.uk:81/a"?b#c', "url": "http://u:p@www.x.co.uk:81/a%22?b#c", "scheme": "http",
                "userinfo": "u:p", "host": "www.x.co.uk", "port": 81, "path": "/a%22", "query": "?b", "fragment": "#c",
                "domain": "x.co.uk", "surt": "http://(uk,co,x,www,:81@u:p)/a%22?b"})
    check(json.loads(run(["--json"], 'http://u:p@www.x.co.uk:81/a%22?b#other\n')[0][0])["hash"], hash_of_page)
    check(json.loads(run(["--json"], "a\\b\t\n")[0][0]), {"input": "a\\b\t", "error": "relative, without a base"})


def wrong_options():
    assert "no rule 'x'" in run(["--canonical", "www,x"], "", 2)[1]
    assert "--base foo" in run(["--base", "foo"], "", 2)[1]
    assert "usage" in run(["--nonsense"], "", 2)[1]
    assert "usage" in run(["surplus"], "", 2)[1]
    with open("/dev/full", "wb") as full:
        done = subprocess.run([LYCOSA, "url"], input=b"http://h/\n", stdout=full, stderr=subprocess.PIPE)
        check(done.returncode, 1)


def standard_cases():
    if not os.path.exists(CASES):
        print(f"skipped: {CASES} is absent")
        return
    by_base = {}
    for case in json.load(open(CASES)):
        # A line cannot hold a line end; those cases are in the conformance test.
        if isinstance(case, dict) and "\n" not in case["input"] and (case["base"] or "http").startswith("http"):
            by_base.setdefault(case["base"], []).append(case)
    count = 0
    for base, cases in by_base.items():
        lines = run(["--base", base] if base else [], "".join(case["input"] + "\n" for case in cases))[0]
        check(len(lines), len(cases))
        for line, case in zip(lines, cases):
            http = case.get("protocol") in ("http:", "https:")
            check(line if http else line[:7], case["href"] if http else "error: ")
            count += 1
    print(f"{count} cases")


def many_lines():
    lines = "".join(f"/page/{i}?q=a b\n" for i in range(200000))
    result = run(["--base", "http://h/"], lines)[0]
    check(len(result), 200000)
    check(result[-1], "http://h/page/199999?q=a%20b")


options()
wrong_options()
standard_cases()
many_lines()
