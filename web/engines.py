# SPDX-License-Identifier: MIT OR Apache-2.0
"""Drives Firefox and WebKitGTK for web/test.py, by WebDriver's commands (https://www.w3.org/TR/webdriver2).

Firefox takes them at its Marionette socket, each as a length, a colon and JSON; WebKitWebDriver takes them over HTTP.
Scripts see the document, but neither the page's own variables nor its policy. Nothing besides Python's own library is
needed.
"""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

FIREFOX = ["firefox-esr", "firefox"]
MINI_BROWSERS = "webkit2gtk-*/MiniBrowser"
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
WAIT_SECONDS = 60


class Engine:
    """A browser with one page; a context manager. `command` sends a command and returns its value."""

    def __init__(self):
        self.ends = contextlib.ExitStack()
        self.folder = pathlib.Path(self.ends.enter_context(
            tempfile.TemporaryDirectory(prefix="hashloom-web-", ignore_cleanup_errors=True)))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ends.close()

    def start(self, program, *arguments, **options):
        process = subprocess.Popen([program, *map(str, arguments)], start_new_session=True, stdin=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, **{"stdout": subprocess.DEVNULL} | options)

        def end():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

        self.ends.callback(end)
        return process

    def run(self, code):
        """Evaluates an expression in the page, waits if it is a promise, and returns its value."""
        script = ("const done = arguments[arguments.length - 1]; Promise.resolve().then(() => (" + code + "))"
                  ".then((value) => done({ value }), (error) => done({ error: String(error) }))")
        answer = self.command("ExecuteAsyncScript", script=script, args=[])
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer.get("value")

    def open(self, url):
        self.command("Navigate", url=url)

    def choose(self, selector, paths):
        """Puts files into a file input."""
        found = self.command("FindElement", using="css selector", value=selector)
        self.command("ElementSendKeys", id=found[ELEMENT], text="\n".join(map(str, paths)))


class Firefox(Engine):
    # Whether a browser tells that a file changed after it was chosen.
    name, tells = "Firefox", False

    def __init__(self):
        program = next(filter(None, map(shutil.which, FIREFOX)), None)
        if program is None:
            raise FileNotFoundError("no Firefox: apt-get install firefox-esr")
        super().__init__()
        (self.folder / "user.js").write_text('user_pref("marionette.port", 0);\n')
        self.start(program, "--headless", "--no-remote", "--marionette", "--profile", self.folder, "about:blank",
                   env=os.environ | {"HOME": str(self.folder)})
        port = self.folder / "MarionetteActivePort"
        deadline = time.monotonic() + WAIT_SECONDS
        while not (port.exists() and port.read_text()):
            if time.monotonic() > deadline:
                self.ends.close()
                raise TimeoutError("Firefox does not answer")
            time.sleep(0.05)
        self.socket = self.ends.enter_context(socket.create_connection(("127.0.0.1", int(port.read_text())),
                                                                       timeout=WAIT_SECONDS))
        self.file = self.ends.enter_context(self.socket.makefile("rb"))
        self.number = 0
        self.receive()
        self.command("NewSession", capabilities={})

    def receive(self):
        length = b""
        while (byte := self.file.read(1)) != b":":
            if not byte:
                raise EOFError("Firefox has ended")
            length += byte
        return json.loads(self.file.read(int(length)))

    def command(self, name, **parameters):
        self.number += 1
        message = json.dumps([0, self.number, f"WebDriver:{name}", parameters]).encode()
        self.socket.sendall(b"%d:%s" % (len(message), message))
        _, _, error, value = self.receive()
        if error:
            raise RuntimeError(f"{name}: {error['error']}: {error['message']}")
        return value["value"] if isinstance(value, dict) and set(value) == {"value"} else value


class WebKit(Engine):
    name, tells = "WebKitGTK", True
    PATHS = {"NewSession": "", "Navigate": "/url", "ExecuteAsyncScript": "/execute/async", "FindElement": "/element",
             "ElementSendKeys": "/element/{id}/value"}

    def __init__(self):
        driver = shutil.which("WebKitWebDriver")
        display = shutil.which("Xvfb")
        browsers = sorted(pathlib.Path("/usr/lib").glob(f"*/{MINI_BROWSERS}"))
        if not (driver and display and browsers):
            raise FileNotFoundError("no WebKitGTK: apt-get install webkit2gtk-driver xvfb")
        super().__init__()
        screen = self.start(display, "-displayfd", "1", "-screen", "0", "1000x900x24", "-nolisten", "tcp",
                            stdout=subprocess.PIPE)
        number = screen.stdout.readline().decode().strip()
        self.ends.callback(screen.stdout.close)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        environment = os.environ | {"DISPLAY": f":{number}", "HOME": str(self.folder), "GDK_BACKEND": "x11",
                                    "XDG_RUNTIME_DIR": str(self.folder), "LIBGL_ALWAYS_SOFTWARE": "1",
                                    "NO_AT_BRIDGE": "1"}
        self.start(driver, f"--port={port}", env=environment)
        self.url = f"http://127.0.0.1:{port}/session"
        options = {"binary": str(browsers[-1]), "args": ["--automation"]}
        capabilities = {"alwaysMatch": {"webkitgtk:browserOptions": options}}
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                answer = self.command("NewSession", capabilities=capabilities)
                break
            except urllib.error.URLError:
                if time.monotonic() > deadline:
                    self.ends.close()
                    raise
                time.sleep(0.05)
        self.url += f"/{answer['sessionId']}"

    def command(self, name, **parameters):
        path = self.PATHS[name].format(id=parameters.pop("id", ""))
        request = urllib.request.Request(self.url + path, json.dumps(parameters).encode(),
                                         {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=WAIT_SECONDS) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise RuntimeError(f"{name}: {value['error']}: {value['message']}") from None


def views_of(engine, url):
    """What views.html, at `url`, finds in WebKit after a test failed there: a text for the end of the error."""
    if not isinstance(engine, WebKit):
        return ""
    engine.open(url)
    deadline = time.monotonic() + 3 * WAIT_SECONDS
    while not (found := engine.run("document.body.dataset.result ?? ''")):
        if time.monotonic() > deadline:
            return "; views.html beside it did not end"
        time.sleep(0.5)
    is_right = found.startswith("0 ")
    whose = "no fault of the engine seen" if is_right else "the engine's fault (docs/reports/webkit-views.md)"
    return f"; {whose}: views.html beside it: {found}"
