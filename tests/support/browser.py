"""Drives Debian's Chromium by the WebDriver protocol, with nothing but the standard library."""
import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

# Chromium as root needs --no-sandbox; the rest keeps it from talking to anybody but the page.
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--no-first-run",
             "--no-default-browser-check", "--disable-background-networking", "--disable-component-update",
             "--disable-default-apps", "--disable-extensions", "--disable-sync", "--disable-features=MediaRouter,OptimizationHints",
             "--hide-scrollbars"]
# Before any script of the page: what its policy forbids is written down.
WATCH = """window.violations = [];
document.addEventListener('securitypolicyviolation', e => window.violations.push(e.violatedDirective + ' ' + e.blockedURI));"""


def is_installed():
    return bool(shutil.which("chromium") and shutil.which("chromedriver"))


class Browser:
    """`with Browser() as browser:` has a window, and a profile that goes with it."""

    def __init__(self, timeout=60):
        self.timeout = timeout

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="lycosa-browser-", ignore_cleanup_errors=True)
        environment = {**os.environ, "HOME": self.folder.name, "XDG_CONFIG_HOME": self.folder.name, "XDG_CACHE_HOME": self.folder.name}
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                       env=environment)
        self.session = None
        try:
            self.begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def begin(self):
        port = None
        for line in self.driver.stdout:
            if port := re.search(r"started successfully on port (\d+)", line):
                break
        assert port, "chromedriver did not start"
        self.base = f"http://127.0.0.1:{port.group(1)}/session"
        arguments = [*ARGUMENTS, f"--user-data-dir={self.folder.name}/profile"]
        answer = self.ask("POST", "", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"args": arguments, "binary": shutil.which("chromium")},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}})
        self.session = answer["sessionId"]
        self.devtools("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
        self.open("about:blank")  # instead of the page that Chromium begins with
        self.requests()

    def __exit__(self, *_):
        try:
            if self.session:
                self.ask("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait(20)
            self.driver.stdout.close()
            self.folder.cleanup()

    def ask(self, method, path, body=None):
        where = self.base + (f"/{self.session}" if self.session else "") + path
        data = json.dumps(body or {}).encode() if method == "POST" else None
        request = urllib.request.Request(where, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as reply:
                return json.load(reply)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.read().decode()[:1000]}") from None

    def devtools(self, command, **parameters):
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def open(self, url):
        self.ask("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        """The value of a script's `return`."""
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script, what, seconds=40):
        end = time.monotonic() + seconds
        while not (value := self.run("return " + script)):
            assert time.monotonic() < end, f"{what} did not come about; the page says: {self.run('return document.body.innerText')[:2000]}"
            time.sleep(0.05)
        return value

    def width(self, pixels, height=900):
        self.devtools("Emulation.setDeviceMetricsOverride", width=pixels, height=height, deviceScaleFactor=1, mobile=pixels < 500)

    def scheme(self, name):
        """dark or light"""
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def screenshot(self, path, whole=True):
        """A picture of the whole page, or of what the window shows."""
        shot = self.devtools("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as out:
            out.write(base64.b64decode(shot["data"]))

    def log(self, kind):
        return self.ask("POST", "/se/log", {"type": kind})

    def errors(self):
        """What the console of the page has said since the last call."""
        return [entry["message"] for entry in self.log("browser")]

    def requests(self):
        """The addresses of all that was sent for since the last call."""
        events = [json.loads(entry["message"])["message"] for entry in self.log("performance")]
        return [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
