"""silicon.py: holds the models of instructions against a CPU, or against qemu.

SPDX-License-Identifier: MIT OR Apache-2.0

Each instruction is executed with random and with extreme contents of registers, flags and 64 bytes of memory, and their
contents afterwards are compared with the model's. Instructions that differ only in their registers or addresses are one
form. Jumps, calls and instructions that move the stack pointer are left out: with a wrong model of them a run ends
elsewhere.
"""

import copy
import os
import random
import re
import struct
import subprocess
from signal import SIGILL

import a64
import words
import x86
from machine import Fault, Machine
from words import FULL

# The state: 64 bytes of memory, 8 vectors of 64 bytes, 8 general registers, 4 masks, flags; a signal, if there was one.
STATE_NBYTES = 64 + 8 * 64 + 8 * 8 + 4 * 8 + 8 + 8
VECTORS, GENERAL, MASKS, FLAGS, SIGNAL = 64, 576, 640, 672, 680
NRUNS = 12

# Forms that are always tried, as each compiler makes some of them.
MORE_X86 = [
    *(f"{name} {x}mm1{mask},{x}mm2,{last}{more}"
      for x, memory in (("y", "YMMWORD PTR [rdi]"), ("z", "ZMMWORD PTR [rdi]"))
      for mask in ("", "{k1}", "{k1}{z}")
      for last in (f"{x}mm3", memory)
      for name, more in (("vpermq", ""), ("vpermpd", ""), ("vpermi2q", ""), ("vpermt2q", ""), ("vprolvq", ""),
                         ("vprorvq", ""), ("vpxorq", ""), ("vpandnq", ""), ("valignq", ",0x3"), ("valignd", ",0x5"),
                         ("vpternlogq", ",0xd2"), ("vpternlogq", ",0x96"))),
    *(f"{move} {x}mm1{mask},{x}mm2" for move in ("vmovdqa64", "vmovdqu64") for x in "yz"
      for mask in ("{k1}", "{k1}{z}")),
    "vmovdqu64 zmm1{k1}{z},ZMMWORD PTR [rdi]", "vmovdqu64 ZMMWORD PTR [rdi]{k1},zmm1",
    "vpternlogq zmm1,zmm2,QWORD BCST [rdi],0x96", "vpblendmq zmm1{k1},zmm2,zmm3", "vprolq zmm1,zmm2,0x15",
    "vpermq zmm1{k1}{z},zmm2,0x93", "vpunpckhqdq zmm1{k1},zmm2,ZMMWORD PTR [rdi]",
    "vinserti64x2 zmm1,zmm2,xmm3,0x2", "vinserti64x2 ymm1,ymm2,XMMWORD PTR [rdi],0x1",
    "vextracti64x2 xmm1,zmm2,0x3", "andn rax,rdx,rcx", "andn eax,edx,DWORD PTR [rdi]", "rorx rax,rdx,0x13",
    "rorx eax,edx,0x13", "rorx rax,QWORD PTR [rdi],0x2b",
]
MORE_A64 = ["eor3\tv1.16b, v2.16b, v3.16b, v4.16b", "rax1\tv1.2d, v2.2d, v3.2d", "xar\tv1.2d, v2.2d, v3.2d, #20",
            "bcax\tv1.16b, v2.16b, v3.16b, v4.16b", "bic\tv1.8b, v2.8b, v3.8b", "eor\tv1.8b, v2.8b, v3.8b",
            "bfi\tw1, w2, #16, #16", "bfi\tx1, x2, #5, #30", "mov\tv1.16b, v2.16b", "mov\tv1.8b, v2.8b"]

MAIN = """
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
static struct { uint8_t bytes[%d]; uint64_t signal; } state __attribute__((aligned(64)));
static sigjmp_buf before;
static void on_signal(int n) { siglongjmp(before, n); }
extern void (*const forms[])(void *);
int main(void)
{
    uint32_t form;
    signal(SIGILL, on_signal);
    signal(SIGSEGV, on_signal);
    while (fread(&form, sizeof form, 1, stdin) == 1 && fread(&state, sizeof state, 1, stdin) == 1) {
        state.signal = (uint64_t)sigsetjmp(before, 1);
        if (state.signal == 0)
            forms[form](&state);
        fwrite(&state, sizeof state, 1, stdout);
    }
    return 0;
}
""" % SIGNAL


class X86:
    isa, MORE = x86, MORE_X86
    GENERAL = ["rax", "rdx", "rcx", "rbx", "r8", "r9", "r10", "r11"]
    LEFT_OUT = re.compile(r"j\w+|call|ret|push|pop|leave|rep|repz|nop\w*|cs|data16|prefetch\w*|v?zero\w*|cpuid|xgetbv|"
                          r"notrack|lock|div|mul|endbr\w*|bnd|rex\S*|ud2")

    def form(self, text):
        """The form of an instruction, or None."""
        text = text.partition("#")[0].strip()
        name, _, rest = text.partition(" ")
        rest = rest.strip()
        if self.LEFT_OUT.fullmatch(name) or not rest:
            return None
        if name == "lea":
            if re.search(r"rip|iz|\[\w+\*", rest):
                return None  # an address that is known when the program is linked
        else:
            rest = re.sub(r"(?:[cdes]s:)?\[[^]]*\]|[cdes]s:0x[0-9a-f]+", "[rdi]", rest)
        if re.search(r"\b[re]?sp\b|<|\bspl\b|\b[acdb]h\b", rest):
            return None
        bases, numbers = {}, {}
        if ",cl" in rest:  # a count of a shift cannot be in another register
            bases["rcx"] = "rcx"

        def general(found):
            if found[0] not in x86.REGISTERS or rest[found.start() - 1 :].startswith("[rdi]"):
                return found[0]
            base, width, _ = x86.REGISTERS[found[0]]
            if base not in bases:
                bases[base] = next(x for x in self.GENERAL if x not in bases.values())
            return next(n for n, (b, w, s) in x86.REGISTERS.items() if (b, w, s) == (bases[base], width, 0))

        if name not in ("mul", "sha256rnds2", "cdqe"):
            rest = re.sub(r"\b(?!0x)[a-z]\w*\b", general, rest)
            rest = re.sub(r"([xyz]mm)(\d+)", lambda f: f[1] + str(numbers.setdefault(f[2], len(numbers) + 1)), rest)
        elif re.search("mm[89]|mm1[0-9]", rest):
            return None
        rest = re.sub(r"\bk(\d)\b", lambda f: f"k{max(1, int(f[1]) % 4)}", rest)
        if name == "mov" or name.startswith("cmov") or name == "movabs":
            rest = re.sub(r"0x[0-9a-f]{3,}", "0x123", rest)
        return f"{name} {rest}"

    def assembly(self, forms, features):
        size = "z" if "avx512bw" in features else "y" if "avx" in features else "x"
        move = {"z": "vmovdqu64", "y": "vmovdqu", "x": "movdqu"}[size]
        lines = [(f"{move} {size}mm{i}, [rdi+{VECTORS + 64 * i}]", f"{move} [rdi+{VECTORS + 64 * i}], {size}mm{i}")
                 for i in range(8)]
        if size == "z":
            lines += [(f"kmovq k{i}, [rdi+{MASKS + 8 * i}]", f"kmovq [rdi+{MASKS + 8 * i}], k{i}") for i in (1, 2, 3)]
        lines += [(f"push [rdi+{FLAGS}]\npopfq", f"pushfq\npop [rdi+{FLAGS}]")]
        lines += [(f"mov {r}, [rdi+{GENERAL + 8 * i}]", f"mov [rdi+{GENERAL + 8 * i}], {r}")
                  for i, r in enumerate(self.GENERAL)]
        out = [".intel_syntax noprefix", ".text", ".macro begin", "push rbx", *(a for a, _ in lines), ".endm",
               ".macro end", *(b for _, b in lines), "pop rbx", "ret", ".endm"]
        for i, form in enumerate(forms):
            out += [f"form{i}:", "begin", self.syntax(form), "end"]
        out += [".data", ".balign 8", ".globl forms", "forms:", *(f".quad form{i}" for i in range(len(forms))),
                '.section .note.GNU-stack,"",@progbits']
        return "\n".join(out) + "\n"

    def syntax(self, program):
        """The syntax of older assemblers."""
        return "\n".join(f".byte {','.join(map(str, x86.sha512_bytes(x)))}" if x.startswith("vsha512") else
                         re.sub(r"\b(\w+) BCST (\[rdi(?:\+0x1)?\])", self.broadcast(x), x)
                         for x in program.split("\n"))

    def broadcast(self, form):
        width = {"x": 16, "y": 32, "z": 64}[re.search(r"([xyz])mm", form)[1]] if "BCST" in form else 0
        return lambda f: f"{f[1]} PTR {f[2]}" + "{1to" + str(width // x86.SIZES[f[1]]) + "}"

    def misjudged(self, forms, tool, folder):
        """Forms that the assembler does not take with those features alone that x86.py says they need; those with a v
        also with registers from 16 on."""
        lines, source = [], folder / "features.s"
        for form in [*forms, *(re.sub(r"mm(\d)", r"mm2\1", x) for x in forms if x[0] == "v")]:
            try:
                needs = [x.replace("SSE4", "SSE4.").replace("BMI1", "BMI").lower() for x in x86.features_of(form)]
            except KeyError:  # no such form; otherwise no kernel that has it is proved
                continue
            if "sha512" not in needs and form[:5] != "tzcnt":  # older assemblers do not know SHA-512
                lines.append("; ".join([".arch generic64", *(f".arch .{x}" for x in needs), self.syntax(form)]))
        source.write_text("\n".join([".intel_syntax noprefix", *lines, ""]))
        done = subprocess.run([tool, "--64", "-o", os.devnull, source], capture_output=True, text=True)
        wrong = [f"{lines[int(n) - 2]}: {error}" for n, error in re.findall(r":(\d+): Error: (.*)", done.stderr)]
        return wrong or [done.stderr] * bool(done.returncode)

    def into(self, m, data):
        m.r = dict.fromkeys(x86.FULL_REGISTERS, 0)
        m.r["rdi"] = m.new(64)
        m.areas.append((m.r["rdi"], m.r["rdi"] + 128))
        m.r |= {r: x for r, x in zip(self.GENERAL, struct.unpack_from("<8Q", data, GENERAL))}
        m.k = dict(enumerate(struct.unpack_from("<4Q", data, MASKS)))
        flags = struct.unpack_from("<Q", data, FLAGS)[0]
        m.cf, m.zf, m.sf, m.of = flags & 1, flags >> 6 & 1, flags >> 7 & 1, flags >> 11 & 1
        m.v = {i: (64, struct.unpack_from("<8Q", data, VECTORS + 64 * i)) for i in range(8)}
        m.store_lanes(m.r["rdi"], 64, struct.unpack_from("<8Q", data, 0))

    def differences(self, m, data, nbytes):
        """nbytes: of a vector that the CPU has."""
        out = [r for r, x in zip(self.GENERAL, struct.unpack_from("<8Q", data, GENERAL)) if m.r[r] != x]
        flags = struct.unpack_from("<Q", data, FLAGS)[0]
        out += [n for n, at in (("cf", 0), ("zf", 6), ("sf", 7), ("of", 11))
                if getattr(m, n) not in (None, flags >> at & 1)]
        if nbytes == 64:
            out += [f"k{i}" for i, x in enumerate(struct.unpack_from("<4Q", data, MASKS)) if i and m.k[i] != x]
        out += [f"vector {i}" for i in range(8) if x86.lanes(m.v[i], 64, nbytes // 8) !=
                struct.unpack_from(f"<{nbytes // 8}Q", data, VECTORS + 64 * i)]
        return out + ["memory"] * (m.load_lanes(m.r["rdi"], 64, 8) != struct.unpack_from("<8Q", data, 0))

    def flags(self, chance):
        return sum(chance.getrandbits(1) << at for at in (0, 6, 7, 11)) | 2


class A64:
    isa, MORE = a64, MORE_A64
    LEFT_OUT = re.compile(r"b|b\.\w+|bl|blr|br|ret|cbn?z|tbn?z|adrp?|nop|prfm|ldxr|stxr|bti|\.inst|udf|brk|mrs|dmb")

    def form(self, text):
        text = text.partition("//")[0].strip()
        name, _, rest = text.partition("\t")
        if self.LEFT_OUT.fullmatch(name) or re.search(r"\bw?sp\b", re.sub(r"\[[^]]*[a-z][^]]*\]", "", rest)):
            return None
        rest = re.sub(r"\[[a-z][^]]*\](!|, #-?\w+)?", "[x0]", rest)
        general, vectors = {}, {}

        def number(found):
            if found[0] == "x0" and "[x0]" in rest[max(0, found.start() - 1) :][:4]:
                return "x0"
            return found[1] + str(general.setdefault(found[2], len(general) + 1))

        rest = re.sub(r"\b([xw])(\d+)\b", number, rest)
        rest = re.sub(r"\b([vqdshb])(\d+)\b", lambda f: f[1] + str(vectors.setdefault(f[2], len(vectors) + 1)), rest)
        return f"{name} {rest}"

    def assembly(self, forms, features):
        lines = [(f"ldr q{i}, [x0, #{VECTORS + 64 * i}]", f"str q{i}, [x0, #{VECTORS + 64 * i}]") for i in range(8)]
        lines += [(f"ldr x9, [x0, #{FLAGS}]\nmsr nzcv, x9", f"mrs x9, nzcv\nstr x9, [x0, #{FLAGS}]")]
        lines += [(f"ldr x{i}, [x0, #{GENERAL + 8 * i}]", f"str x{i}, [x0, #{GENERAL + 8 * i}]") for i in range(1, 8)]
        out = [".arch armv8.4-a+crypto+sha3", ".text", ".macro begin", *(a for a, _ in lines), ".endm", ".macro end",
               *(b for _, b in lines), "ret", ".endm"]
        for i, form in enumerate(forms):
            out += [f"form{i}:", "begin", form, "end"]
        out += [".data", ".balign 8", ".globl forms", "forms:", *(f".quad form{i}" for i in range(len(forms))),
                '.section .note.GNU-stack,"",@progbits']
        return "\n".join(out) + "\n"

    def into(self, m, data):
        m.r = [m.new(64), *struct.unpack_from("<7Q", data, GENERAL + 8), *[0] * 25]
        flags = struct.unpack_from("<Q", data, FLAGS)[0]
        m.sf, m.zf, m.cf, m.of = (flags >> at & 1 for at in (31, 30, 29, 28))
        m.v = {i: (64, struct.unpack_from("<2Q", data, VECTORS + 64 * i)) for i in range(8)}
        m.store_lanes(m.r[0], 64, struct.unpack_from("<8Q", data, 0))

    def differences(self, m, data, nbytes):
        out = [f"x{i}" for i, x in enumerate(struct.unpack_from("<8Q", data, GENERAL)) if i and m.r[i] != x]
        flags = struct.unpack_from("<Q", data, FLAGS)[0]
        out += [n for n, at in (("sf", 31), ("zf", 30), ("cf", 29), ("of", 28))
                if getattr(m, n) not in (None, flags >> at & 1)]
        out += [f"vector {i}" for i in range(8)
                if a64.lanes(m.v[i], 64, 2) != struct.unpack_from("<2Q", data, VECTORS + 64 * i)]
        return out + ["memory"] * (m.load_lanes(m.r[0], 64, 8) != struct.unpack_from("<8Q", data, 0))

    def flags(self, chance):
        return chance.getrandbits(4) << 28


class NoImage:
    """A machine for single instructions."""

    word_nbytes, segments, writable = 8, [], []

    def __init__(self, isa):
        self.isa = isa


def states(chance, flags):
    """Random and extreme contents."""
    for run in range(NRUNS):
        extremes = [0, 1, FULL[64], FULL[64] >> 1, 1 << 63, 1 << 31, 0x7FFFFFFF80000000]
        quads = [chance.choice(extremes) if run % 3 == 0 else chance.getrandbits(64) for _ in range(FLAGS // 8)]
        yield struct.pack(f"<{len(quads)}QQQ", *quads, flags(chance), 0)


def forms_of(models, texts):
    return sorted({form for form in map(models.form, (*texts, *models.MORE)) if form})


def executed(models, forms, inputs, cc, runner, features, folder):
    """What the CPU makes of states: pairs of the number of a form and a state. Returns the bytes, or an error."""
    source, main, program = folder / "forms.s", folder / "main.c", folder / "forms"
    source.write_text(models.assembly(forms, features))
    main.write_text(MAIN)
    done = subprocess.run([*cc, "-O1", "-w", "-static" if runner else "-no-pie", main, source, "-o", program],
                          capture_output=True, text=True)
    if done.returncode != 0:
        return None, f"does not assemble: {done.stderr[:2000]}"
    out = subprocess.run([*runner, program], input=b"".join(struct.pack("<I", i) + state for i, state in inputs),
                         capture_output=True).stdout
    if len(out) != STATE_NBYTES * len(inputs):
        return None, "the program with all forms failed"
    return [out[i : i + STATE_NBYTES] for i in range(0, len(out), STATE_NBYTES)], None


def vector_nbytes(models, features):
    return 16 if models.isa is a64 else 64 if "avx512bw" in features else 32 if "avx" in features else 16


def function_of(models, form):
    return models.isa.instruction(form if models.isa is x86 else form.replace(" ", "\t", 1), 0)


def checked(models, texts, cc, runner, features, folder):
    """Compares the forms of instructions. Returns their number, those that this CPU lacks, and what differs."""
    forms = forms_of(models, texts)
    # One byte further on, memory that must be aligned is not: a signal here, a Fault there.
    aside = [x.replace("[rdi]", "[rdi+0x1]") if models.isa is x86 else "" for x in forms]
    aside = [x for x, form in zip(aside, forms) if re.search(r"[xyz]mm", x) and x != form]
    chance = random.Random(1)
    inputs = [(i, state) for i in range(len(forms)) for state in states(chance, models.flags)]
    inputs += [(len(forms) + i, next(states(chance, models.flags))) for i in range(len(aside))]
    after, error = executed(models, forms + aside, inputs, cc, runner, features, folder)
    if error:
        return len(forms), [], [error]
    nbytes = vector_nbytes(models, features)
    lacking, wrong, functions = set(), [], {}
    for (i, state), out in zip(inputs, after):
        form, signal = (forms + aside)[i], struct.unpack_from("<Q", out, SIGNAL)[0]
        if signal == SIGILL:
            lacking.add(form)
            continue
        m = Machine(NoImage(models.isa))
        models.into(m, state)
        if i not in functions:
            functions[i] = function_of(models, form)
        try:
            functions[i](m)
            different = ["a signal"] if signal else models.differences(m, out, nbytes)
        except Fault as e:
            different = [] if signal and "multiple" in str(e) else [str(e)]
        except (IndexError, TypeError, ValueError) as e:
            different = [repr(e)]
        if different and i < len(forms):
            wrong.append(f"{form}: {', '.join(different)}")
        elif "a signal" in different:  # AMD's SHA instructions take any address, Intel's manual is stricter
            wrong.append(f"{form}: a signal at an odd address")
    return len(forms), sorted(lacking & set(forms)), sorted(set(wrong))


# ---- Random programs ------------------------------------------------------------------------------------------------

NINSTRUCTIONS = 12


def renamed(models, form, chance):
    """A form with other registers."""
    def other(found):
        return found[1] + str(chance.randrange(5))

    if models.isa is a64:
        order = chance.sample(range(1, 8), 7)  # a pair of registers stays a pair
        general = re.sub(r"\b([xw])([1-7])\b", lambda f: f[1] + str(order[int(f[2]) - 1]), form)
        return re.sub(r"\b([vqdshb])(\d)\b", other, general)
    if "sha256rnds2" in form or "cl" in form:
        return form
    return re.sub(r"\b([xyz]mm)(\d)\b", other, form)


def unknown_state(models, chance, known):
    """A machine all of whose contents are variables, but for those of a state that are known, and the variables: the
    places of their words in a state."""
    m = Machine(NoImage(models.isa))
    models.into(m, known)
    places = {}

    def unknown(at):
        number = words.atom(("quad", at), 64)
        places[number] = at
        return words.variable(("quad", at), 64)

    for i in range(8):
        quads = struct.unpack_from("<8Q", known, VECTORS + 64 * i)
        n = len(m.v[i][1])
        m.v[i] = 64, tuple(unknown(VECTORS + 64 * i + 8 * j) if i < 4 else x for j, x in enumerate(quads[:n]))
    registers = {r: GENERAL + 8 * i for i, r in enumerate(models.GENERAL)} if models.isa is x86 else \
        {i: GENERAL + 8 * i for i in range(1, 8)}
    for nth, (register, at) in enumerate(registers.items()):
        if nth % 2:
            m.r[register] = unknown(at)
    where = m.r["rdi"] if models.isa is x86 else m.r[0]
    m.store_lanes(where, 64, [unknown(8 * j) if j < 4 else struct.unpack_from("<Q", known, 8 * j)[0] for j in range(8)])
    return m, places


def known_as(m, inputs):
    """The machine that one with variables is for numbers."""
    known, out = {}, copy.copy(m)

    def value(x):
        return words.value_of(x, inputs, known)

    out.r = {i: value(x) for i, x in m.r.items()} if type(m.r) is dict else [value(x) for x in m.r]
    out.v = {i: (width, tuple(value(x) for x in lanes)) for i, (width, lanes) in m.v.items()}
    out.cells = {i: value(x) for i, x in m.cells.items()}
    out.k = {i: value(x) for i, x in getattr(m, "k", {}).items()}
    return out


def programs_checked(models, forms, cc, runner, features, folder, n):
    """Random programs of these forms, run with unknown words. What the normal form of a result is for numbers must be
    what the CPU makes of them: values of one normal form are therefore equal there. Returns the number of programs and
    what differs."""
    chance = random.Random(2)
    programs, machines, inputs = [], [], []
    for _ in range(n if forms else 0):
        words.reset()
        state = next(states(chance, models.flags))
        m, places = unknown_state(models, chance, state)
        program = []
        while len(program) < NINSTRUCTIONS:
            form = renamed(models, chance.choice(forms), chance)
            before = copy.copy(m)
            before.r, before.v, before.cells = copy.copy(m.r), dict(m.v), dict(m.cells)
            before.k = dict(getattr(m, "k", {}))
            try:
                function_of(models, form)(m)
                program.append(form)
            except (Fault, TypeError, ValueError, KeyError, IndexError):  # it cannot take what is unknown
                m = before
                program.append("")
        programs.append(program)
        for _ in range(3):
            data = bytearray(state)
            for at in places.values():
                struct.pack_into("<Q", data, at, chance.choice((chance.getrandbits(64), chance.getrandbits(64), 0,
                                                                FULL[64], 1 << 63)))
            inputs.append((len(programs) - 1, bytes(data)))
            machines.append(known_as(m, {i: struct.unpack_from("<Q", data, at)[0] for i, at in places.items()}))
    texts = ["\n".join(filter(None, x)) for x in programs]
    after, error = executed(models, texts, inputs, cc, runner, features, folder)
    if error:
        return 0, [error]
    wrong = []
    for (i, _), m, out in zip(inputs, machines, after):
        signal = struct.unpack_from("<Q", out, SIGNAL)[0]
        different = [f"signal {signal}"] if signal else models.differences(m, out, vector_nbytes(models, features))
        if different:
            wrong.append(f"{'; '.join(filter(None, programs[i]))}: {', '.join(different)}")
    return len(programs), sorted(set(wrong))
