# gcc.py: gcc's assembly, taken apart.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Reads a file of assembly that gcc has written: its functions, and its data as bytes and addresses."""

import ast
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field


def die(message):
    print(f"{os.path.basename(sys.argv[0])}: {message}", file=sys.stderr)
    sys.exit(2)


def run(command, **more):
    """Returns what a command prints."""
    try:
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **more).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        die(error)


def code_of(assembler, objcopy, lines):
    """Returns the bytes of instructions that know no symbol."""
    with tempfile.TemporaryDirectory() as folder:
        made, code = os.path.join(folder, "made.o"), os.path.join(folder, "made.bin")
        run([*assembler, "-o", made], input="\n".join([*lines, ""]))
        run([objcopy, "-O", "binary", "-j", ".text", made, code])
        with open(code, "rb") as file:
            return file.read()


SIZES = {".byte": 1, ".value": 2, ".hword": 2, ".2byte": 2, ".long": 4, ".word": 4, ".4byte": 4, ".quad": 8,
         ".xword": 8, ".8byte": 8}


@dataclass
class Data:
    name: str
    is_global: bool
    is_writable: bool
    contents: bytearray = field(default_factory=bytearray)
    addresses: dict = field(default_factory=dict)  # by offset: a symbol and the distance from it


@dataclass
class Function:
    name: str
    is_global: bool
    lines: list = field(default_factory=list)  # instructions, also as .byte, labels with their colon, alignments


def text_of(literal):
    return ast.literal_eval("b" + re.sub(r"\\([0-7]{1,3})", lambda m: f"\\x{int(m.group(1), 8):02x}", literal))


class Unit:
    def __init__(self, name, source, path):
        self.name, self.source = name, source
        self.functions, self.data, self.aliases = {}, {}, {}
        with open(path) as file:
            lines = file.read().split("\n")
        global_names = set(re.findall(r"^\t\.globa?l\t(\S+)", "\n".join(lines), re.M))
        functions = set(re.findall(r"^\t\.type\t(\S+), [@%]function", "\n".join(lines), re.M))
        section, now, writable = ".text", None, False
        for line in lines:
            line = re.sub(r"^\s*#.*$|\s*//.*$", "", line)  # APP, NO_APP
            if match := re.fullmatch(r"([\w.$]+):", line.strip()):
                label = match.group(1)
                if section == ".text" and label in functions:
                    now = self.functions[label] = Function(label, label in global_names)
                elif section == ".text":
                    now.lines.append(label + ":")
                else:
                    now = self.data[label] = Data(label, label in global_names, writable)
                continue
            words = line.split(None, 1)
            if not words:
                continue
            head, rest = words[0], words[1].strip() if len(words) > 1 else ""
            if head in (".text", ".data", ".bss", ".section"):
                section = head if head != ".section" else rest.split(",")[0]
                writable = section in (".data", ".bss") or section.startswith((".data.rel", ".bss")) and \
                    not section.startswith(".data.rel.ro")
            elif head == ".byte" and section == ".text":
                now.lines.append(f".byte {rest}")
            elif head in SIZES:
                self.number(now, SIZES[head], rest)
            elif head == ".zero":
                now.contents += bytes(int(rest))
            elif head in (".string", ".ascii"):
                now.contents += text_of(rest) + (b"\0" if head == ".string" else b"")
            elif head == ".comm":
                name, nbytes, _ = rest.split(",")
                self.data[name] = Data(name, True, True, bytearray(int(nbytes)))
            elif head == ".set":
                name, of = rest.split(",")
                self.aliases[name.strip()] = of.strip()
            elif head == ".p2align" and isinstance(now, Function) and section == ".text":
                now.lines.append(f".p2align {rest}")
            elif not head.startswith("."):
                for one in re.split(r";", line):
                    if one.strip():
                        now.lines.append(re.sub(r"\s+", " ", one.strip()))

    @staticmethod
    def number(data, nbytes, text):
        for one in text.split(","):
            if match := re.fullmatch(r"([.\w$]*[A-Za-z_][\w.$]*)([+-]\d+)?", one.strip()):
                assert nbytes == 8, text
                data.addresses[len(data.contents)] = (match.group(1), int(match.group(2) or 0))
                data.contents += bytes(8)
            else:
                data.contents += (int(one, 0) & ((1 << 8 * nbytes) - 1)).to_bytes(nbytes, "little")
