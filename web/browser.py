# SPDX-License-Identifier: MIT OR Apache-2.0
"""Drives a headless Chromium over its debugging pipe, for web/test.py.

The protocol (https://chromedevtools.github.io/devtools-protocol) is JSON, each message ended by a NUL byte; Chromium
reads from descriptor 3 and writes to descriptor 4. Nothing besides Python's own library is needed.
"""

import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

NAMES = ["chromium", "chromium-browser", "google-chrome", "chrome"]


class Browser:
    """A browser with one page; a context manager."""

    def __init__(self):
        program = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
        if program is None:
            raise FileNotFoundError("no Chromium: install it (apt-get install chromium) or name it in CHROMIUM")
        self.profile = tempfile.TemporaryDirectory(prefix="hashloom-web-", ignore_cleanup_errors=True)
        to_browser, self.to = os.pipe()
        self.back, from_browser = os.pipe()

        def descriptors():
            # dup2 onto itself would keep the close-on-exec mark, and 3 or 4 may be one of the pipes, or free.
            ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (to_browser, from_browser)]
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        flags = ["--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--no-first-run", "--disable-gpu",
                 f"--user-data-dir={self.profile.name}", "--window-size=1000,900"]
        # Containers often have little shared memory. Files in its place cost the page a fifth of its speed.
        if shutil.disk_usage("/dev/shm").total < 256 << 20:
            flags.append("--disable-dev-shm-usage")
        self.process = subprocess.Popen([program, *flags, "about:blank"], preexec_fn=descriptors, close_fds=False,
                                        start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.number, self.buffer, self.events, self.session = 0, b"", [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "DOM", "Network", "Log"]:
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.to)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self.back)
        self.profile.cleanup()

    def call(self, method, seconds=120, **params):
        """Sends a command and returns its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session is not None:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        return self.until(lambda answer: answer.get("id") == self.number, seconds, method)

    def until(self, is_it, seconds, what):
        deadline = time.monotonic() + seconds
        while True:
            while b"\0" in self.buffer:
                text, self.buffer = self.buffer.split(b"\0", 1)
                answer = json.loads(text)
                if is_it(answer):
                    if "error" in answer:
                        raise RuntimeError(f"{what}: {answer['error']}")
                    return answer.get("result", answer)
                if "method" in answer:
                    self.events.append(answer)
            if not select.select([self.back], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError(f"{what}: no answer within {seconds} seconds")
            data = os.read(self.back, 1 << 20)
            if not data:
                raise EOFError(f"{what}: the browser has ended")
            self.buffer += data

    def open(self, url):
        """Opens a page and waits until it is loaded."""
        self.events.clear()
        self.call("Page.navigate", url=url)
        self.event("Page.loadEventFired")

    def event(self, method, seconds=60):
        for event in self.events:
            if event["method"] == method:
                self.events.remove(event)
                return event
        return self.until(lambda answer: answer.get("method") == method, seconds, method)

    def run(self, code, seconds=120):
        """Evaluates an expression in the page, waits if it is a promise, and returns its value."""
        answer = self.call("Runtime.evaluate", seconds, expression=code, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def choose(self, selector, paths):
        """Puts files, or a folder, into a file input."""
        node = self.call("DOM.querySelector", nodeId=self.call("DOM.getDocument")["root"]["nodeId"],
                         selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[str(path) for path in paths])

    def drop(self, selector, paths):
        """Drops files and folders on an element."""
        x, y = self.run(f"(() => {{ const box = document.querySelector({json.dumps(selector)})"
                        ".getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()")
        data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
        for kind in ["dragEnter", "dragOver", "drop"]:
            self.call("Input.dispatchDragEvent", type=kind, x=x, y=y, data=data)
