#!/usr/bin/env python3
# picture.py: what was asked of a disk, as a picture: the place of each request over time.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
"""  bench/disks/picture.py LOG [-o FILE.svg] [--title TEXT]

LOG is a copy of MOUNT/.model, the control of a disk model (src/main.rs), or that file itself. Each request is a stroke
from its first to its last byte: red if the arm moved for it, else blue. Grey lines are the borders of files."""

import argparse
from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 1200, 700
LEFT, RIGHT, TOP, BOTTOM = 80, 20, 70, 50
# More borders would hide the requests.
MOST_BORDERS = 200


@dataclass
class Request:
    arrived: float
    started: float
    done: float
    position: int
    nbytes: int
    moved: bool


@dataclass
class Log:
    model: str
    disk_nbytes: int
    files: list
    requests: list

    @property
    def nbytes(self):
        return sum(request.nbytes for request in self.requests)

    @property
    def nmoved(self):
        return sum(request.moved for request in self.requests)

    @property
    def seconds(self):
        """From the first request to the end of the last."""
        if not self.requests:
            return 0.0
        return max(request.done for request in self.requests) - min(request.arrived for request in self.requests)

    @property
    def busy(self):
        """Seconds in which a request was served."""
        total, end = 0.0, 0.0
        for request in sorted(self.requests, key=lambda request: request.started):
            total += max(0.0, request.done - max(request.started, end))
            end = max(end, request.done)
        return total

    def summary(self):
        rate = self.nbytes / 1e6 / self.seconds if self.seconds else 0
        return (f"{len(self.requests)} requests, {self.nmoved} seeks, {self.nbytes / 1e6:.0f} MB in "
                f"{self.seconds:.2f} s ({self.busy:.2f} s busy), {rate:.0f} MB/s")


def read_log(text):
    log = Log("?", 1, [], [])
    for line in text.splitlines():
        kind, *words = line.split(" ")
        if kind == "model":
            log.model, log.disk_nbytes = words[0], int(words[1])
        elif kind == "file":
            log.files.append((int(words[0]), int(words[1]), " ".join(words[2:])))
        elif kind == "read":
            times = [int(word) / 1e9 for word in words[:3]]
            log.requests.append(Request(*times, int(words[3]), int(words[4]), words[5] == "1"))
    return log


def steps(length, most):
    """Round numbers from 0 to `length`, at most `most` of them."""
    step = 1e-6
    while length / step > most:
        # 1, 2, 5, 10, 20, ...
        step *= 2.5 if f"{step:e}"[0] == "2" else 2
    return [index * step for index in range(int(length / step) + 1)]


def picture(log, title):
    """Returns the SVG."""
    first = min((request.arrived for request in log.requests), default=0)
    seconds = log.seconds or 1
    low = min((request.position for request in log.requests), default=0)
    high = max((request.position + request.nbytes for request in log.requests), default=1)

    def x(time):
        return LEFT + (time - first) / seconds * (WIDTH - LEFT - RIGHT)

    def y(position):
        return HEIGHT - BOTTOM - (position - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
             f'height="{HEIGHT}" font-family="sans-serif" font-size="14">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
             f'<text x="{LEFT}" y="28" font-size="18">{escape(title)}</text>',
             f'<text x="{LEFT}" y="52" fill="#555">{escape(log.model)}: {log.summary()}</text>']
    for time in steps(seconds, 12):
        at = x(first + time)
        lines.append(f'<path d="M{at:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#eee"/>'
                     f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{time:g}</text>')
    for place in steps((high - low) / 1e6, 10):
        at = y(low + place * 1e6)
        lines.append(f'<text x="{LEFT - 8}" y="{at + 5:.1f}" text-anchor="end">{place:g}</text>')
    lines.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">seconds</text>'
                 f'<text x="20" y="{(TOP + HEIGHT - BOTTOM) / 2}" text-anchor="middle" '
                 f'transform="rotate(-90 20 {(TOP + HEIGHT - BOTTOM) / 2})">place on the disk, MB</text>')
    borders = {start for start, _, _ in log.files} | {start + nbytes for start, nbytes, _ in log.files}
    if len(borders) <= MOST_BORDERS:
        lines += [f'<path d="M{LEFT} {y(border):.1f}H{WIDTH - RIGHT}" stroke="#ccc"/>'
                  for border in sorted(borders) if low <= border <= high]
    lines.append(f'<rect x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}" height="{HEIGHT - TOP - BOTTOM}" '
                 'fill="none" stroke="#999"/>')
    for moved, colour in ((False, "#1f5fbf"), (True, "#d62728")):
        # A stroke has the width of its time, but is always seen.
        strokes = "".join(f"M{x(request.started):.1f} {y(request.position):.1f}"
                          f"L{max(x(request.done), x(request.started) + 1):.1f} "
                          f"{min(y(request.position + request.nbytes), y(request.position) - 0.5):.1f}"
                          for request in log.requests if request.moved == moved)
        if strokes:
            lines.append(f'<path d="{strokes}" stroke="{colour}" stroke-width="2" stroke-linecap="round"/>')
    return "\n".join([*lines, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("log", help="a copy of MOUNT/.model")
    parser.add_argument("-o", "--output", metavar="FILE.svg", help="default: the log's name with .svg")
    parser.add_argument("--title", help="for example the command")
    arguments = parser.parse_args()
    with open(arguments.log) as file:
        log = read_log(file.read())
    with open(arguments.output or arguments.log + ".svg", "w") as file:
        file.write(picture(log, arguments.title or arguments.log))
    print(log.summary())


if __name__ == "__main__":
    main()
