#!/usr/bin/env python3
"""The shipped dashboard and alerts: every expression is about metrics that a crawl has, a real Prometheus takes them, and each
alert fires when it should and not before."""
import json
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from console import POLITE, Running, series  # noqa: E402
from simulated import Web, main, merge, wait_until  # noqa: E402

FOLDER = Path(__file__).resolve().parents[2] / "tools" / "grafana"
ALERTS = FOLDER / "alerts.yml"
CRAWL = 'job="lycosa", instance="crawl:80"'


def dashboard():
    """(where it is, expression) of all that it asks."""
    board = json.loads((FOLDER / "lycosa.json").read_text())
    asked = [(panel["title"], target["expr"]) for panel in board["panels"] for target in panel["targets"]]
    asked += [(note["name"], note["expr"]) for note in board["annotations"]["list"]]
    variables = [(variable["name"], variable["definition"]) for variable in board["templating"]["list"] if "definition" in variable]
    return asked, variables


def names_in(expression):
    return set(re.findall(r"\b(?:lycosa|process)_\w+", expression))


def alert_expressions():
    """{alert: its expression}"""
    text = ALERTS.read_text()
    blocks = re.split(r"^ +- alert: ", text, flags=re.M)[1:]
    return {block.split("\n")[0]: re.search(r"expr: (.*?)\n +(?:for|labels):", block, re.S).group(1) for block in blocks}


def test_every_expression_names_metrics_of_a_crawl():
    asked, variables = dashboard()
    with Web("--hosts", "20", "--pages", "20") as web, Running(web, merge(POLITE, {"net": {"bandwidth": "300KB"}})) as crawl:
        wait_until(lambda: crawl.crawl()["links"] > 500, "links")
        have = {name.split("{")[0] for name in series(crawl.ctl("metrics"))}
    for where, expression in [*asked, *variables, *alert_expressions().items()]:
        names = names_in(expression)
        assert names and names <= have, (where, expression, names - have)
    assert len(asked) > 40 and len(alert_expressions()) == 5
    drawn = {re.sub("_bucket$", "", name) for _, expression in asked for name in names_in(expression)}
    missing = {"lycosa_rest_duration_seconds", "lycosa_dns_duration_seconds", "lycosa_dns_lookups_total", "lycosa_written_bytes_total",
               "lycosa_checkpoint_timestamp_seconds", "lycosa_lost_races_total", "lycosa_memory_used_bytes", "lycosa_links_total"} - drawn
    assert not missing, missing


def test_prometheus_takes_them():
    need("promtool", "prometheus")
    checked = subprocess.run(["promtool", "check", "rules", ALERTS], capture_output=True, text=True)
    assert checked.returncode == 0 and "5 rules found" in checked.stdout, checked
    with Web("--hosts", "20", "--pages", "20") as web, Running(web, merge(POLITE, {"net": {"bandwidth": "300KB"}})) as crawl:
        with Prometheus(crawl.port) as prometheus:
            wait_until(lambda: prometheus.ask("query", query="lycosa_build_info"), "a scrape")
            wait_until(lambda: all(rule["health"] == "ok" for rule in prometheus.rules()) and len(prometheus.rules()) == 5, "the rules")
            for where, expression in dashboard()[0]:
                expression = expression.replace("$__rate_interval", "1m").replace("$job", ".+").replace("$instance", ".+")
                assert prometheus.ask("query", query=expression) is not None, (where, expression)
            wait_until(lambda: prometheus.ask("query", query='rate(lycosa_limited_seconds_total{by="bandwidth"}[1m])'), "a rate")


class Prometheus:
    """A Prometheus of our own with the alerts, which scrapes the port each second."""

    def __init__(self, target):
        self.folder = tempfile.TemporaryDirectory()
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        config = Path(self.folder.name) / "prometheus.yml"
        config.write_text(f"global: {{scrape_interval: 1s, evaluation_interval: 1s}}\nrule_files: ['{ALERTS}']\nscrape_configs:\n- job_name: lycosa\n"
                          f"  static_configs:\n  - targets: ['127.0.0.1:{target}']\n")
        self.process = subprocess.Popen(["prometheus", f"--config.file={config}", f"--storage.tsdb.path={self.folder.name}/data",
                                         f"--web.listen-address=127.0.0.1:{self.port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()

    def ask(self, what, **query):
        """The result; None: it does not answer, or has something against the question."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/{what}?{urllib.parse.urlencode(query)}", timeout=10) as reply:
                data = json.load(reply)["data"]
                return data.get("result", data)
        except OSError:
            return None

    def rules(self):
        return [rule for group in (self.ask("rules") or {"groups": []})["groups"] for rule in group["rules"]]


def test_alerts_fire_when_they_should():
    """promtool runs the rules over made-up series: a good crawl, and one fault each."""
    need("promtool")
    good = {f"lycosa_pages_total{{{CRAWL}}}": "0+60x90", f'lycosa_hosts{{{CRAWL}, state="ready"}}': "5+0x90",
            f'lycosa_phase{{{CRAWL}, phase="running"}}': "1+0x90", f"lycosa_disk_free_bytes{{{CRAWL}}}": "100e9-1e6x90",
            f"lycosa_disk_reserve_bytes{{{CRAWL}}}": "1e9+0x90", f'lycosa_links_total{{{CRAWL}, fate="lost"}}': "0+0x90",
            f'lycosa_loop_turns_total{{{CRAWL}, loop="1"}}': "0+900x90", f"lycosa_commit_age_seconds{{{CRAWL}}}": "5+0x90"}
    faults = {"LycosaFetchesNothing": (f"lycosa_pages_total{{{CRAWL}}}", "7+0x90"), "LycosaDiskLow": (f"lycosa_disk_free_bytes{{{CRAWL}}}", "100e9-1e9x90"),
              "LycosaLinksLost": (f'lycosa_links_total{{{CRAWL}, fate="lost"}}', "0+1x90"),
              "LycosaLoopStuck": (f'lycosa_loop_turns_total{{{CRAWL}, loop="1"}}', "7+0x90"), "LycosaCommitOld": (f"lycosa_commit_age_seconds{{{CRAWL}}}", "0+60x90")}
    assert set(faults) == set(alert_expressions())
    assert fires(good, None) is True
    for alert, (name, values) in faults.items():
        assert fires({**good, name: values}, alert), f"{alert} does not fire"
    # A paused crawl fetches nothing, and no alert is wanted.
    assert fires({**good, f"lycosa_pages_total{{{CRAWL}}}": "7+0x90", f'lycosa_phase{{{CRAWL}, phase="running"}}': "0+0x90"}, None)


def fires(values, wanted):
    """Whether after 20 minutes the alert `wanted` is there, and no other."""
    with tempfile.TemporaryDirectory() as folder:
        tests = [f"rule_files: ['{ALERTS}']", "tests:", "- interval: 15s", "  input_series:"]
        tests += [f"  - {{series: {json.dumps(name)}, values: '{text}'}}" for name, text in values.items()]
        tests += ["  promql_expr_test:", "  - expr: count(ALERTS{alertstate=\"firing\"}) by (alertname)", "    eval_time: 20m", "    exp_samples:"]
        tests += [f"    - {{labels: '{{alertname=\"{wanted}\"}}', value: 1}}"] if wanted else ["    []"]
        path = Path(folder) / "test.yml"
        path.write_text("\n".join(tests).replace("exp_samples:\n    []", "exp_samples: []") + "\n")
        done = subprocess.run(["promtool", "test", "rules", path], capture_output=True, text=True)
        assert done.returncode in (0, 1) and "yaml" not in done.stderr, done
        if done.returncode:
            print(done.stdout[-800:])
        return done.returncode == 0


def need(*programs):
    missing = [program for program in programs if not shutil.which(program)]
    if missing:
        print(f"skipped: no {' '.join(missing)} (tools/setup --all)")
        sys.exit(77)


if __name__ == "__main__":
    main([test_every_expression_names_metrics_of_a_crawl, test_alerts_fire_when_they_should, test_prometheus_takes_them])
