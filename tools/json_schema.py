#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes docs/hashloom.schema.json, the JSON Schema (2020-12) of what the program prints with --json, from the Rust
structs that are printed: a field's name, type and attributes of serde, and its comment, which stands there alone.

    python3 tools/json_schema.py            writes the file
    python3 tools/json_schema.py --check    fails if the file would change

A struct whose comment begins with "JSON of `COMMAND`:" is an object of that command. Later versions may add fields, so
the schema allows fields that it does not name; `faults` does not.
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PATH = ROOT / "docs/hashloom.schema.json"
HEX = {"type": "string", "pattern": "^([0-9a-f]{2})*$"}
SIMPLE = {
    "str": {"type": "string"}, "String": {"type": "string"}, "Text": {"type": "string"}, "bool": {"type": "boolean"},
    "f64": {"type": "number"}, "i64": {"type": "integer"}, "i128": {"type": "integer"},
    **{name: {"type": "integer", "minimum": 0} for name in ("u16", "u32", "u64", "usize")},
    "Hex": HEX, "Bits": HEX, "Digits": HEX,
}
HEAD = r"((?:^ *(?:///|#\[)[^\n]*\n)*)^ *(?:pub(?:\(\w+\))? )?"
ITEM = re.compile(HEAD + r"(struct|enum) (\w+)[^\n;{(]*\{\n(.*?)^ *\}$", re.M | re.S)
FIELD = re.compile(HEAD + r"(\w+)(?:: ([^\n]+)|\(([^\n]+)\)| \{ ([^\n]+) \}|),$", re.M)
# Those lines are written by hand, with as many types as are asked for.
ADDRESSES = """
    /// The public key in hexadecimal, for a secret key too.
    key: Hex,
""" + "".join(f"""
    /// Its address of this type; absent if the key cannot have one.
    #[serde(skip_serializing_if)]
    {name}: String,
""" for name in ("p2pkh", "p2sh_p2wpkh", "p2wpkh", "p2tr"))
DECODED = """
    /// The address as given.
    address: String,
    /// `main`; `test`, which stands for all networks that share the address; `regtest`, in bech32.
    network: String,
    /// `p2pkh`, `p2sh`, `p2wpkh`, `p2wsh`, `p2tr`, or `witness_unknown`: a version or length that has no meaning yet.
    type: String,
    /// 20 bytes; absent for `p2wsh`, `p2tr` and `witness_unknown`.
    #[serde(skip_serializing_if)]
    hash160: Hex,
    /// The scriptPubKey.
    script: Hex,
"""


def comment(attributes):
    """The first paragraph of a comment."""
    lines = [line.strip()[3:].strip() for line in attributes.splitlines() if line.strip().startswith("///")]
    return " ".join(" ".join(lines).split()) if "" not in lines else " ".join(lines[:lines.index("")])


class Crates:
    """The structs and enums of all crates, by crate, file and name."""

    def __init__(self):
        self.texts = {path: path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("rust/*/src/**/*.rs"))}
        self.items = {}
        for path, text in self.texts.items():
            for attributes, kind, name, body in ITEM.findall(text):
                if "Serialize" in attributes:
                    self.items.setdefault(name, {})[path] = kind, attributes, body

    def find(self, name, path):
        """The item that a file means: its own, or that beside it, or that of a crate that it uses."""
        places = self.items.get(name, {})
        used = re.search(rf"^use hashloom_(\w+)::[^;]*\b{name}\b", self.texts.get(path, ""), re.M)
        near = [place for place in places if place == path] or \
            [place for place in places if place.parent == path.parent] or \
            [place for place in places if used and f"rust/hashloom-{used[1]}/" in str(place)]
        if len(near) != 1:
            raise SystemExit(f"{path}: {name} is in {len(near)} files: {near}")
        return near[0], *places[near[0]]

    def of_type(self, kind, path):
        kind = re.sub(r"&(?:'\w+ )?|<'\w+>|'\w+, ", "", kind.strip()).removesuffix("<>")
        if kind in SIMPLE:
            return dict(SIMPLE[kind])
        if found := re.fullmatch(r"Cow<(.*)>", kind):
            return self.of_type(found[1], path)
        if kind == "Vec<(static str, Hex)>" or kind == "Vec<(str, Hex)>":
            return {"type": "object", "additionalProperties": HEX}
        if found := re.fullmatch(r"BTreeMap<String, (.*)>", kind):
            return {"type": "object", "additionalProperties": self.of_type(found[1], path)}
        if found := re.fullmatch(r"Option<(.*)>", kind):
            schema = self.of_type(found[1], path)
            return schema | {"type": [schema["type"], "null"]}
        if found := re.fullmatch(r"\[(.*); (\d+)\]", kind):
            return {"type": "array", "items": self.of_type(found[1], path), "minItems": int(found[2]),
                    "maxItems": int(found[2])}
        if found := re.fullmatch(r"(?:Vec<(.*)>|\[(.*)\])", kind):
            return {"type": "array", "items": self.of_type(found[1] or found[2], path)}
        if found := re.fullmatch(r"\((.*), (.*)\)", kind):
            return {"type": "array", "prefixItems": [self.of_type(part, path) for part in found.groups()]}
        # A list whose elements are made when they are written.
        if found := re.search(rf"impl Serialize for {kind}<'_> \{{.*?(\w+Json)\b", self.texts[path], re.S):
            if kind not in self.items or path not in self.items[kind]:
                return {"type": "array", "items": self.of_item(found[1], path)}
        return self.of_item(kind, path)

    def of_item(self, name, path):
        if name == "E":
            return self.line()
        path, kind, attributes, body = self.find(name, path)
        if kind == "enum":
            return {"type": "string", "enum": [variant[1].lower() for variant in FIELD.findall(body)]}
        return self.of_fields(body, path)

    def of_fields(self, body, path):
        properties, required = {}, []
        for attributes, name, kind, *_ in FIELD.findall(body):
            if "serde(skip)" in attributes:
                continue
            renamed = re.search(r'rename = "([\w-]+)"', attributes)
            name = renamed[1] if renamed else name
            is_optional = "skip_serializing_if" in attributes
            if "flatten" in attributes:
                inner = re.sub(r"<'\w+>|&'\w+ ", "", kind)
                is_optional |= inner.startswith("Option<")
                inner = re.fullmatch(r"(?:Option<)?(\w+)>?", inner)[1]
                if inner == "Named":
                    properties[name] = {"description": comment(attributes), "type": "string"}
                    properties[name + "_hex"] = HEX | {"description": f"The bytes of `{name}`, if not UTF-8."}
                    required += [] if is_optional else [name]
                    continue
                flat = self.of_flat(inner, path)
                properties |= flat["properties"]
                required += [] if is_optional else flat["required"]
                continue
            # An Option that is skipped is never null.
            kind = kind[7:-1] if kind.startswith("Option<") and is_optional else kind
            properties[name] = {"description": comment(attributes)} | self.of_type(kind, path)
            required += [] if is_optional else [name]
            if not properties[name]["description"]:
                raise SystemExit(f"{path}: the field {name} has no comment")
        return {"type": "object", "properties": properties, "required": required}

    def of_flat(self, name, path):
        """An enum's variants are fields, of which an object has one."""
        path, kind, _, body = self.find(name, path)
        if kind == "struct":
            return self.of_fields(body, path)
        properties = {}
        for attributes, variant, _, one, many in FIELD.findall(body):
            fields = "".join(f"/// {comment(attributes)}\n{field},\n" for field in many.split(", "))
            schema = self.of_fields(fields, path) if many else self.of_item(one, path)
            properties[variant.lower()] = {"description": comment(attributes)} | schema
        return {"properties": properties, "required": []}

    def line(self):
        """A line of a manifest but the first: a macro makes the struct."""
        path = ROOT / "rust/hashloom-manifest/src/line.rs"
        body = re.search(r"^line! \{\n(.*?);\n", self.texts[path], re.M | re.S)[1] + ","
        schema = self.of_fields(body, path)
        kind = {"description": "What the line is of; `end` is the last line."} | self.of_item("Type", path)
        return schema | {"properties": {"type": kind} | schema["properties"], "required": ["type"],
                         "additionalProperties": HEX}

    def schema(self):
        commands = {}

        def add(attributes, make):
            said = comment(attributes)
            if found := re.match(r"JSON of ((?:`[^`]+`(?:, | and )?)+): (.*)", said):
                text = found[2][0].upper() + found[2][1:]
                for command in re.findall(r"`([^`]+)`", found[1]):
                    commands.setdefault(command, []).append({"description": text} | make())

        for path, text in self.texts.items():
            for attributes, _, name, body in ITEM.findall(text):
                add(attributes, lambda name=name, path=path: self.of_item(name, path))
            for attributes in re.findall(r"((?:^///.*\n)+)^macro_rules! line", text, re.M):
                add(attributes, self.line)
        add("/// JSON of `address`: one object for each right key.", lambda: self.of_fields(ADDRESSES, ROOT))
        add("/// JSON of `address`: one object for each address, with `--decode`.",
            lambda: self.of_fields(DECODED, ROOT))
        definitions = {name: {"anyOf": objects} for name, objects in sorted(commands.items())}
        # A list of devices is printed whole.
        definitions["kernels --gpu"] = {"type": "array", "items": definitions["kernels --gpu"]}
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": "https://github.com/hashloom/hashloom/blob/main/docs/hashloom.schema.json",
            "title": "What hashloom prints with --json, and the lines of its manifests",
            "$comment": "Written by tools/json_schema.py from the structs that are printed.",
            "anyOf": [{"$ref": f"#/$defs/{name.replace(' ', '%20')}"} for name in definitions],
            "$defs": definitions,
        }


def faults(schema, value, where="$"):
    """Why a value is not valid, also for a field that the schema does not name. Only what the schema here uses."""
    if "anyOf" in schema:
        found = [list(faults(one, value, where)) for one in schema["anyOf"]]
        yield from [] if [] in found else min(found, key=len)
        return
    kinds = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "object": dict, "array": list,
             "null": type(None)}
    wanted = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(isinstance(value, kinds[kind]) and (kind == "boolean") == isinstance(value, bool) for kind in wanted):
        yield f"{where}: {value!r} is not of type {wanted}"
    elif isinstance(value, str):
        if "pattern" in schema and not re.search(schema["pattern"], value):
            yield f"{where}: {value!r} is not like {schema['pattern']}"
        if value not in schema.get("enum", [value]):
            yield f"{where}: {value!r} is none of {schema['enum']}"
    elif isinstance(value, dict):
        properties, other = schema.get("properties", {}), schema.get("additionalProperties")
        for key in schema.get("required", []):
            if key not in value:
                yield f"{where}: {key} is missing"
        for key, inner in value.items():
            if key in properties or other:
                yield from faults(properties.get(key, other), inner, f"{where}.{key}")
            else:
                yield f"{where}: the schema lacks {key}"
    elif isinstance(value, list):
        kinds = schema.get("prefixItems", [schema.get("items")] * len(value))
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(kinds)):
            yield f"{where}: {len(value)} elements"
        for index, (kind, inner) in enumerate(zip(kinds, value)):
            yield from faults(kind, inner, f"{where}[{index}]")
    elif value is not None and value < schema.get("minimum", value):
        yield f"{where}: {value} is below {schema['minimum']}"


def text():
    """The file as it should be."""
    return json.dumps(Crates().schema(), indent=1, ensure_ascii=False) + "\n"


def main():
    if sys.argv[1:] == ["--check"]:
        if PATH.read_text(encoding="utf-8") != text():
            sys.exit(f"{PATH.relative_to(ROOT)} is not as the structs say: run tools/json_schema.py")
    else:
        PATH.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
