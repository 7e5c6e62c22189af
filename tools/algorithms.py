#!/usr/bin/env python3
# algorithms.py: writes what C, Rust, Go, Python and the documents need of core/src/algorithms.def, the one list.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Rewrites the generated parts of files, or with --check only says which are not as this program would write them. All
rows are checked first; if one is wrong, or one file cannot be written, no file changes.

    tools/algorithms.py [--check]

A generated part stands between two lines of the file, which are comments of its language:

    algorithms.py: NAME
    algorithms.py: end

NAME is a function of this program, below WRITERS, and returns the lines between.
"""

import argparse
import os
import re
import sys
import textwrap
from dataclasses import dataclass

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIST = os.path.join(ROOT, "core", "src", "algorithms.def")


@dataclass(frozen=True)
class Body:
    constant: str  # SHA256
    id: int
    name: str  # sha256
    word_nbytes: int
    nwords: int
    big_endian: bool


@dataclass(frozen=True)
class Algorithm:
    constant: str  # SHA512_256
    id: int
    name: str  # sha512-256
    title: str  # SHA-512/256
    body: Body
    digest_nbytes: int
    block_nbytes: int
    iv: str
    ending: str  # STRENGTHENED, COUNTED, SPONGE, XOF
    suffix: int
    hashlib: str
    tags: tuple  # the first is written
    openssl: tuple  # names; the last is the object identifier
    pkcs11: str | None
    standard: str
    is_legacy: bool

    @property
    def is_xof(self):
        return self.ending == "XOF"

    @property
    def has_hmac(self):
        return self.ending in ("STRENGTHENED", "SPONGE")

    @property
    def is_counted(self):
        return self.ending == "COUNTED"

    @property
    def identifier(self):
        """The name as a name of a variable: sha512_256."""
        return self.name.replace("-", "_")

    @property
    def camel(self):
        """As Rust names it: Sha512_256, Keccak256."""
        return re.sub(r"(?<=[a-z])_", "", self.identifier.capitalize())


def arguments(text):
    """The arguments of a macro: strings, and words with at most one pair of parentheses."""
    return [string if string or not word else word
            for string, word in re.findall(r'"([^"]*)"|([\w.]+(?:\([^)]*\))?)', text)]


class Wrong(Exception):
    """What is wrong in the list, or in a file that gets a part of it."""


def check(holds, where, what):
    if not holds:
        raise Wrong(f"{where}: {what}")


def integer(text, where, what, base=10):
    try:
        return int(text, base)
    except ValueError:
        raise Wrong(f"{where}: {what} is {text!r}, not a number") from None


def block_function(where, constant, number, name, word_nbytes, nwords, order):
    body = Body(constant, integer(number, where, "the id"), name, integer(word_nbytes, where, "word_nbytes"),
                integer(nwords, where, "nwords"), order == "BIG")
    check(body.word_nbytes in (4, 8), where, f"words have 4 or 8 bytes, not {word_nbytes}")
    check(order in ("BIG", "LITTLE"), where, f"the order of bytes is BIG or LITTLE, not {order}")
    check(name in RUST_CRATES, where, f"RUST_CRATES of tools/algorithms.py names no crate for {name}")
    return body


def algorithm(where, bodies, constant, number, name, title, body, digest_nbytes, block_nbytes, iv, ending, hashlib,
              tags, openssl, pkcs11, standard, status):
    check(body in bodies, where, f"no BLOCK_FUNCTION row before it is named {body}")
    kind = re.fullmatch(r"(STRENGTHENED|COUNTED|TREE)|(SPONGE|XOF)\((\w+)\)", ending)
    endings = "STRENGTHENED, COUNTED, TREE, SPONGE(suffix) or XOF(suffix)"
    check(kind is not None, where, f"the ending is {endings}, not {ending}")
    check(status in ("CURRENT", "LEGACY"), where, f"the status is CURRENT or LEGACY, not {status}")
    return Algorithm(
        constant, integer(number, where, "the id"), name, title, bodies[body],
        integer(digest_nbytes, where, "digest_nbytes"), integer(block_nbytes, where, "block_nbytes"), iv,
        kind[1] or kind[2], integer(kind[3] or "0", where, "the suffix", 0), hashlib, tuple(tags.split(",")),
        tuple(openssl.split(":")), None if pkcs11 == "NONE" else pkcs11, standard, status == "LEGACY")


def read(path=LIST):
    """All bodies and all algorithms, by their ids."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", lambda found: "\n" * found[0].count("\n"), file.read(), flags=re.S)
    bodies, algorithms, name = {}, [], os.path.relpath(path, ROOT)
    for row in re.finditer(r"^(BLOCK_FUNCTION|ALG)\(((?:(?:[^()]|\([^)]*\))*)\)$)?", text, flags=re.M):
        where = f"{name}:{text.count(chr(10), 0, row.start()) + 1}"
        check(row[2] is not None, where, "the row has no end")
        columns, wanted = arguments(row[2]), 6 if row[1] == "BLOCK_FUNCTION" else 15
        check(len(columns) == wanted, where, f"{len(columns)} columns, where {row[1]} has {wanted}")
        if row[1] == "BLOCK_FUNCTION":
            bodies[columns[0]] = block_function(where, *columns)
        else:
            algorithms.append(algorithm(where, bodies, *columns))
    for rows, first in ((list(bodies.values()), 0), (algorithms, 1)):
        ids = [row.id for row in rows]
        check(ids == list(range(first, first + len(rows))), name, f"the ids {ids} are not {first}, {first + 1}, ...")
        for column in ("constant", "name"):
            values = [getattr(row, column) for row in rows]
            check(len(set(values)) == len(values), name, f"two rows have one {column}")
    check({a.body.name for a in algorithms} == {b.name for b in bodies.values()}, name, "a body has no algorithm")
    return list(bodies.values()), algorithms


# The crates of RustCrypto that the types replace, by block function; None: there is no such crate, and no type.
RUST_CRATES = {"sha1": "sha1", "sha256": "sha2", "sha512": "sha2", "ripemd160": "ripemd", "md5": "md5",
               "keccak": "sha3", "sm3": "sm3", "blake2b": "blake2", "blake2s": "blake2", "blake3": "blake3"}


def rust_peer(a):
    return f"{RUST_CRATES[a.body.name]}::{a.camel}"


try:
    BODIES, ALGORITHMS = read()
except Wrong as wrong:
    sys.exit(str(wrong))


# ---- Writers: each returns the lines of a generated part ------------------------------------------------------------


def c_enum():
    width = max(len(a.constant) for a in ALGORITHMS)
    for a in ALGORITHMS:
        comma = "," if a is not ALGORITHMS[-1] else " "
        legacy = ". For existing formats only" if a.is_legacy else ""
        usual = f"; digests of any length, usually {a.digest_nbytes} bytes" if a.is_xof else ""
        title = "" if re.sub(r"\W", "_", a.title.replace("SHA-", "SHA").replace("RIPEMD-", "RIPEMD")) == a.constant \
            else f"{a.title}: "
        yield f"    HL_{a.constant:{width}} = {a.id}{comma} /* {title}{a.standard}{usual}{legacy} */"


def c_digest_sizes():
    width = max(len(a.constant) for a in ALGORITHMS) + len("HL__DIGEST_NBYTES")
    for a in ALGORITHMS:
        yield f"#define {'HL_' + a.constant + '_DIGEST_NBYTES':{width}} {a.digest_nbytes}"


def c_bodies():
    width = max(len(b.constant) for b in BODIES)
    for b in BODIES:
        members = ", ".join(a.title for a in ALGORITHMS if a.body is b)
        comma = "," if b is not BODIES[-1] else " "
        yield f"    HL_BODY_{b.constant:{width}} = {b.id}{comma} /* {members} */"


def c_bits():
    """For parts.h: #if needs macros."""
    names = {a.identifier: a.body for a in ALGORITHMS} | {b.name: b for b in BODIES}
    names["sha3"] = names["keccak"]
    width = max(map(len, names))
    for name, body in sorted(names.items(), key=lambda item: (item[1].id, item[0])):
        yield f"#define HLI_ALG_{name:{width}} {1 << body.id:#04x}"


def in_order():
    """For people: families side by side, the shorter digest first."""
    return sorted(ALGORITHMS, key=lambda a: (a.body.id, a.is_xof, a.suffix == 1, a.name))


def in_go():
    """Those that a package of the Go module has: go/internal/core/gen/text.py leaves the others out."""
    return [a for a in ALGORITHMS if a.body.name not in ("sm3", "blake2b", "blake2s", "blake3")]


def eager():
    """Those with types of the digest crate: RustCrypto has them, and hashes a block as soon as it is full."""
    return [a for a in in_order() if a.ending not in ("COUNTED", "TREE") and RUST_CRATES[a.body.name]]


def rust_sys_constants():
    for a in ALGORITHMS:
        usual = f"; digests of any length, usually {a.digest_nbytes} bytes" if a.is_xof else ""
        legacy = " For existing formats only." if a.is_legacy else ""
        yield f"/// {a.title}: {a.standard}{usual}.{legacy}"
        yield f"pub const HL_{a.constant}: hl_alg = {a.id};"


def rust_sys_sizes():
    for a in ALGORITHMS:
        article = "an" if a.title[0] in "M" else "a"
        yield f"/// Bytes in {article} {a.title} digest{', if a call names none' * a.is_xof}."
        yield f"pub const HL_{a.constant}_DIGEST_NBYTES: usize = {a.digest_nbytes};"


def rust_sys_bodies():
    for b in BODIES:
        yield f"/// {', '.join(a.title for a in ALGORITHMS if a.body is b)}."
        yield f"pub const HL_BODY_{b.constant}: hl_body = {b.id};"


# Calls beside hashing that a build may lack (core/src/parts.h), with the features that they take; and names that
# people who know RustCrypto's crates look for.
CALLS = {"hmac": [], "merkle": ["sha256"], "search": [], "sha1dc": ["sha1"], "slh": ["hmac"]}
ONLY_IN_C = ("search", "slh")
GROUPS = {"sha2": ["sha256", "sha512"], "blake2": ["blake2b", "blake2s"]}


def feature(body):
    """The feature of a crate, as docs/c.md names it."""
    return "sha3" if body.name == "keccak" else body.name


def is_built(a):
    return f'#[cfg(feature = "{feature(a.body)}")]'


def quoted(names):
    return ", ".join(f'"{name}"' for name in names)


def features():
    return sorted(map(feature, BODIES)) + sorted(CALLS)


def cargo_sys():
    yield from textwrap.wrap(f"default = [{quoted(features())}]", 118, subsequent_indent="    ")
    for name in features():
        yield f"{name} = [{quoted(CALLS.get(name, []))}]"


def cargo_features():
    names = [name for name in features() if name not in ONLY_IN_C]
    yield from textwrap.wrap(f'all = [{quoted(names)}, "hashloom-sys/default"]', 118, subsequent_indent="    ")
    for name in names:
        yield f"{name} = [{quoted([*CALLS.get(name, []), 'hashloom-sys/' + name])}]"
    for name, members in GROUPS.items():
        yield f"{name} = [{quoted(members)}]"


def rust_algorithms():
    for a in in_order():
        size = f"{a.digest_nbytes}-byte digest" + ", or any other length" * a.is_xof
        yield f'    "{feature(a.body)}"'
        yield f"    /// {a.title}: {a.standard}; {size}."
        if a.is_legacy:
            yield "    ///"
            yield ("    /// Not collision resistant: for existing formats only, never where somebody might gain by a"
                   " forged message.")
        yield f'    {a.camel} = HL_{a.constant}, "{a.name}", "{a.title}", [{quoted(a.tags)}],'
        yield (f"        {a.digest_nbytes}, {a.block_nbytes}, HL_BODY_{a.body.constant}, {str(a.is_xof).lower()}, "
               f"{str(a.has_hmac).lower()};")


def md_openssl():
    yield from wrapped((f"`{a.openssl[0]}`" for a in ALGORITHMS if a.openssl[0]), last=".")


def md_pkcs11():
    mechanisms = ", ".join(f"`CKM_{a.pkcs11}`" for a in ALGORITHMS if a.pkcs11)
    yield from wrapped([mechanisms], last=".")


def wrapped(texts, first="", rest="", last="", width=120):
    """A list of words with commas between, as lines."""
    return textwrap.wrap(", ".join(texts) + last, width, initial_indent=first, subsequent_indent=rest,
                         break_long_words=False, break_on_hyphens=False)


def md_names():
    """The names of --algorithm, for docs/checksums.md."""
    default = {"sha256": " (the default)"}
    yield from wrapped(f"`{a.name}`" + (f" ({a.digest_nbytes} bytes)" if a.is_xof else default.get(a.name, ""))
                       for a in in_order())


def md_bodies():
    """What -DHL_ALGORITHMS takes, for docs/c.md: one name of each block function, and who shares it."""
    texts = []
    for body in BODIES:
        sharing = [a for a in in_order() if a.body is body]
        first = next(a for a in sharing if a.constant == body.constant or body.name == "keccak")
        name = "sha3" if body.name == "keccak" else first.identifier
        others = [a.title for a in sharing if name == "sha3" or a is not first]
        texts.append(f"`{name}`" + (f" ({', '.join(others)})" if others else ""))
    yield from wrapped(texts, last=";")


def families():
    """SHA-2 for SHA-224 to SHA-512/256, and so on: for people who only want to know whether theirs is there."""
    known = (("SHA-1", "SHA-1"), ("SHA-", "SHA-2"), ("SHA3-", "SHA-3"), ("SHAKE", "SHAKE"), ("BLAKE2", "BLAKE2"))
    names = (next((name for begin, name in known if a.title.startswith(begin)), a.title) for a in in_order())
    return list(dict.fromkeys(names))


def debian_families():
    yield from wrapped(families(), "  * prints and checks checksums: ", "    ", ";", 79)


def md_families():
    yield from wrapped(families(), last=".")


def gpu_bodies():
    """The statics of shader.rs, for the algorithms of searches: words there have 32 bits."""
    searchable = [a for a in ALGORITHMS if a.ending == "STRENGTHENED"]
    bodies = [b for b in BODIES if any(a.body is b for a in searchable)]
    for b in bodies:
        yield f"const {b.constant}: Body = Body {{"
        yield f'    name: "{b.name}",'
        yield f'    source: include_str!("shaders/{b.name}.ops"),'
        yield f"    nstate: {b.nwords * b.word_nbytes // 4},"
        yield f"    nwords: {next(a for a in searchable if a.body is b).block_nbytes // 4},"
        yield f"    is_wide: {'true' if b.word_nbytes == 8 else 'false'},"
        yield f"    is_big_endian: {'true' if b.big_endian else 'false'},"
        yield "};"
    yield ""
    yield f"static BODIES: [(Algorithm, Body); {len(searchable)}] = ["
    for a in searchable:
        yield f"    (Algorithm::{a.camel}, {a.body.constant}),"
    yield "];"


def rust_cores():
    for a in eager():
        # The length in the padding takes two words; a sponge has none.
        count_nbytes = 0 if a.suffix else 2 * a.body.word_nbytes
        state = f"[u{8 * a.body.word_nbytes}; {a.body.nwords}]"
        saved_nbytes = a.body.word_nbytes * a.body.nwords + count_nbytes
        end = f"U{a.digest_nbytes // 2}, {a.camel}ReaderCore" if a.is_xof else f"U{a.digest_nbytes}"
        yield is_built(a)
        yield f"{'xof' if a.is_xof else 'fixed'}! {{"
        yield f'    {a.camel}, {a.camel}Core, "{a.title}", "{a.standard}",'
        yield f"    {state}, {count_nbytes}, U{saved_nbytes}, U{a.block_nbytes}, {end}"
        yield "}"


def has_oid(a):
    return re.fullmatch(r"[\d.]+", a.openssl[-1])


def rust_types():
    for a in eager():
        oid = f', oid "{a.openssl[-1]}"' if has_oid(a) else ""
        advice = "Not collision resistant: for existing formats only. " if a.is_legacy else ""
        reader = f", {a.camel}Reader, {a.camel}ReaderCore" if a.is_xof else ""
        yield is_built(a)
        yield f"{'xof' if a.is_xof else 'fixed'}! {{"
        yield f'    {a.camel}, {a.camel}Core{reader}, "{a.title}", "{rust_peer(a)}",'
        yield f'    "{advice}The standard is {a.standard}."{oid}'
        yield "}"
    yield "types! {"
    for a in eager():
        if not a.is_xof:
            yield f'    "{feature(a.body)}" {a.camel}'
    yield "}"


def rust_macs():
    for a in eager():
        if not a.is_xof:
            yield is_built(a)
            yield f"mac!(Hmac{a.camel}, {a.camel}, U{a.block_nbytes}, U{a.digest_nbytes});"


def rust_peers():
    for a in eager():
        yield f"        $xof!({a.camel}, {rust_peer(a)});" if a.is_xof else \
            f"        $fixed!({a.camel}, {rust_peer(a)}, Hmac{a.camel});"


def rust_oids():
    for a in eager():
        if has_oid(a):
            yield f"    check!({a.camel}, {rust_peer(a)});"


def rust_line_keys():
    for a in in_order():
        yield f'    {a.camel}: {a.identifier} = "{a.name}",'


def rust_solaris():
    for a in in_order():
        mac = "None" if not a.has_hmac else f'Some("{a.identifier}_hmac")'
        yield f'    (Algorithm::{a.camel}, "{a.identifier}", {mac}),'


def go_constants():
    width = max(len(a.constant) for a in in_go())
    for a in in_go():
        yield f"\t{a.constant:{width}} Alg = {a.id}"


def sha1dc(row):
    """The rows of that name in the table of SHA-1 with a verdict: their columns."""
    with open(os.path.join(ROOT, "core/src/sha1dc.def"), encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/|^#.*?$", "", file.read(), flags=re.S | re.M)
    return [re.split(r",\s*", columns) for columns in re.findall(rf"\b{row}\(([^)]*)\)", text)]


def go_sha1dc_vectors():
    texts = [f"{{{', '.join(columns)}}}," for columns in sha1dc("VECTOR")]
    for i in range(0, len(texts), 8):
        yield "\t" + " ".join(texts[i:i + 8])


def go_sha1dc_differences():
    for _, *words in sha1dc("DIFFERENCES"):
        yield from textwrap.wrap("{" + ", ".join(words) + "},", 110, initial_indent="\t", subsequent_indent="\t\t")


def go_sha1dc_conditions():
    first = dict(sha1dc("KIND"))
    for kind, *columns in sha1dc("CONDITION"):
        yield f"\t{{{first[kind]}, {', '.join(columns)}}},"


def go_rows():
    width = max(len(a.constant) for a in in_go()) + 1
    for a in in_go():
        yield (f'\t{a.constant + ":":{width}} {{"{a.name}", "{a.title}", "{a.body.name}", {a.digest_nbytes}, '
               f"{a.block_nbytes}, {a.body.word_nbytes}, {a.body.nwords}, {a.suffix:#04x}, {str(a.is_xof).lower()}}},")


def go_keccaks():
    """The algorithms of Go's package sha3, and how names end there: as in crypto/sha3, or in x/crypto/sha3."""
    for a in ALGORITHMS:
        if a.body.name == "keccak":
            yield a, (a.name.removeprefix("sha3-") if a.name.startswith("sha3-") else a.title if a.is_xof
                      else "Legacy" + a.title.replace("-", ""))


def go_sha3():
    yield ""
    for a, end in go_keccaks():
        if a.is_xof:
            yield from f"""\
// New{end} returns a new {a.title}.
func New{end}() *SHAKE {{
	return sha3.New{end}()
}}

// Sum{end} returns the {a.title} digest of data, length bytes of it.
func Sum{end}(data []byte, length int) []byte {{
	return sha3.Sum{end}(data, length)
}}

// SumMany{end} sets dst[i*length:(i+1)*length] to the {a.title} digest of msgs[i]. It panics if length is not
// positive, if dst is not len(msgs)*length bytes long, or if it overlaps a message.
func SumMany{end}(dst []byte, msgs [][]byte, length int) {{
	digest.SumManyXOF(core.UseKeccak(core.{a.constant}), dst, msgs, length)
}}

// SumRows{end} sets dst[i*length:(i+1)*length] to the {a.title} digest of rows[i*rowLen:(i+1)*rowLen]. It
// panics if length is not positive, if dst does not have room for the digests of all rows and no more, or if it
// overlaps rows.
func SumRows{end}(dst, rows []byte, rowLen, length int) {{
	digest.SumRowsXOF(core.UseKeccak(core.{a.constant}), dst, rows, rowLen, length)
}}
""".split("\n")
            continue
        size = "Size" + end
        if a.name.startswith("sha3-"):
            kind, new, one = "*SHA3", f"\treturn sha3.New{end}()", f"\treturn sha3.Sum{end}(data)"
        else:
            kind, new = "hash.Hash", f"\treturn digest.NewHash(core.UseKeccak(core.{a.constant}))"
            one = f"\tvar sum [{size}]byte\n\tcore.Sum(core.UseKeccak(core.{a.constant}), sum[:], data)\n\treturn sum"
        yield from f"""\
// {size} is the number of bytes in a digest of {a.title}.
const {size} = {a.digest_nbytes}

// New{end} returns a new running hash that computes {a.title}.
func New{end}() {kind} {{
{new}
}}

// Sum{end} returns the {a.title} digest of data.
func Sum{end}(data []byte) [{size}]byte {{
{one}
}}

// SumMany{end} sets dst[i] to the {a.title} digest of msgs[i]. It panics if dst and msgs differ in length,
// or overlap.
func SumMany{end}(dst [][{size}]byte, msgs [][]byte) {{
	digest.SumMany(core.UseKeccak(core.{a.constant}), dst, msgs)
}}

// SumRows{end} sets dst[i] to the {a.title} digest of rows[i*rowLen:(i+1)*rowLen]. It panics if rows is not
// len(dst)*rowLen bytes long, or overlaps dst.
func SumRows{end}(dst [][{size}]byte, rows []byte, rowLen int) {{
	digest.SumRows(core.UseKeccak(core.{a.constant}), dst, rows, rowLen)
}}
""".split("\n")


def go_sha3_variants():
    """For variants_test.go."""
    for a, end in go_keccaks():
        if not a.is_xof:
            yield f"\tvariantOf(core.{a.constant}, func() hash.Hash {{ return sha3.New{end}() }},"
            yield f"\t\tsha3.Sum{end}, sha3.SumMany{end}, sha3.SumRows{end}),"


def go_xofs():
    """For xof_test.go."""
    for a, end in go_keccaks():
        if a.is_xof:
            yield f"\t{{core.{a.constant}, sha3.New{end}, sha3.Sum{end}, sha3.SumMany{end}, sha3.SumRows{end}}},"


def python_constructors():
    """Those with parameters have a mark: BLAKE2, BLAKE3."""
    marks = {a: "@" if a.is_counted else "&" for a in in_order()
             if a.ending in ("COUNTED", "TREE") and a.constant == a.body.constant}
    for a in in_order():
        if a not in marks:
            yield f"    {a.hashlib} = {a.camel},"
    for a, mark in marks.items():
        yield f"    {mark} {a.hashlib} = {a.camel},"


def python_imports():
    for name in sorted(a.hashlib for a in ALGORITHMS):
        yield f"    {name},"


def python_all():
    for name in sorted(a.hashlib for a in ALGORITHMS):
        yield f'    "{name}",'


def python_stubs():
    for a in in_order():
        kind = "HashXOF" if a.is_xof else "Hash"
        arguments = 'data: _Data = b"", *, usedforsecurity: bool = True, string: _Data | None = None'
        if a.is_counted and a.constant == a.body.constant:
            yield f"def {a.hashlib}("
            yield '    data: _Data = b"", *, digest_size: int | None = None, key: _Data = b"", salt: _Data = b"",'
            yield '    person: _Data = b"", usedforsecurity: bool = True, string: _Data | None = None'
            yield f") -> {kind}: ..."
            continue
        if a.ending == "TREE":
            yield f"def {a.hashlib}("
            yield '    data: _Data = b"", *, key: _Data | None = None, derive_key_context: str | None = None,'
            yield '    usedforsecurity: bool = True, string: _Data | None = None'
            yield f") -> {kind}: ..."
            continue
        yield f"def {a.hashlib}({arguments}) -> {kind}: ..."


def npm_names():
    for a in in_order():
        yield f"    | '{a.name}'"


def page_names():
    names = {name.lower() for a in in_order() for name in (a.name, *a.tags)}
    for name in sorted(name for name in names if "/" not in name):
        yield f'    "{name}",'


WRITERS = {
    "core/Cargo.toml": [cargo_sys],
    "rust/hashloom/Cargo.toml": [cargo_features],
    "core/algorithms.rs": [rust_sys_constants, rust_sys_sizes, rust_sys_bodies],
    "rust/hashloom/src/rows/algorithms.rs": [rust_algorithms],
    "rust/hashloom/src/rows/cores.rs": [rust_cores],
    "rust/hashloom/src/rows/types.rs": [rust_types],
    "rust/hashloom/src/rows/macs.rs": [rust_macs],
    "rust/hashloom/tests/common/mod.rs": [rust_peers],
    "rust/hashloom/tests/all/rustcrypto.rs": [rust_oids],
    "rust/hashloom-manifest/src/line.rs": [rust_line_keys],
    "rust/hashloom-solaris/src/lib.rs": [rust_solaris],
    "core/include/hashloom.h": [c_enum, c_digest_sizes, c_bodies],
    "core/src/parts.h": [c_bits],
    "docs/checksums.md": [md_names],
    "docs/c.md": [md_bodies],
    "docs/drop-ins.md": [md_openssl, md_pkcs11],
    "debian/control": [debian_families],
    "python/README.md": [md_families],
    "web/npm/README.md": [md_families],
    "rust/hashloom-gpu/src/shader.rs": [gpu_bodies],
    "go/internal/core/alg.go": [go_constants, go_rows],
    "go/internal/core/sha1dc.go": [go_sha1dc_vectors, go_sha1dc_differences, go_sha1dc_conditions],
    "go/sha3/sha3.go": [go_sha3],
    "go/variants_test.go": [go_sha3_variants],
    "go/xof_test.go": [go_xofs],
    "python/src/hash.rs": [python_constructors],
    "python/package/pyhashloom/__init__.py": [python_imports, python_all],
    "python/package/pyhashloom/_hashloom.pyi": [python_all, python_stubs],
    "web/page.js": [page_names],
    "web/npm/index.d.ts": [npm_names],
}

# ---------------------------------------------------------------------------------------------------------------------


def rewritten(path, text, writers):
    """The file's text with its generated parts as they should be."""
    for writer in writers:
        mark = re.escape("algorithms.py: " + writer.__name__)
        part = re.compile(rf"(^[^\n]*\b{mark}\b[^\n]*\n)(.*?)(^[^\n]*algorithms\.py: end\b)", re.M | re.S)
        check(len(part.findall(text)) == 1, path, f"no line, or more than one, says 'algorithms.py: {writer.__name__}' "
              "before one that says 'algorithms.py: end'")
        lines = "".join(line + "\n" if line else "\n" for line in writer())
        text = part.sub(lambda found, lines=lines: found[1] + lines + found[3], text)
    return text


def replace_all(files):
    """Writes every file beside the old one, and only then puts them in their places."""
    temporary = {os.path.join(ROOT, path): os.path.join(ROOT, path + ".new") for path in files}
    try:
        for text, (old, new) in zip(files.values(), temporary.items()):
            with open(new, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(new, os.stat(old).st_mode)
        for old, new in temporary.items():
            os.replace(new, old)
    finally:
        for new in temporary.values():
            if os.path.exists(new):
                os.remove(new)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    differ = {}
    for path, writers in WRITERS.items():
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            text = file.read()
        wanted = rewritten(path, text, writers)
        if wanted != text:
            differ[path] = wanted
    if not options.check:
        replace_all(differ)
    if options.check and differ:
        sys.exit("not as tools/algorithms.py writes them: " + ", ".join(differ))
    print("algorithms.py:",
          "written: " + ", ".join(differ) if differ else "all files are as core/src/algorithms.def says")


if __name__ == "__main__":
    try:
        main()
    except (Wrong, OSError) as error:
        sys.exit(str(error))
