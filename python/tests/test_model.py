# SPDX-License-Identifier: MIT OR Apache-2.0
"""What OpenSSF Model Signing signs: the same as its own, from one read of each file."""

import hashlib
import os
import pathlib
import re

import pytest

import pyhashloom

model_signing = pytest.importorskip("model_signing", reason="SKIPPED: models: model-signing is not installed")
import model_signing.hashing  # noqa: E402
import model_signing.signing  # noqa: E402
import model_signing.verifying  # noqa: E402
import pyhashloom.model  # noqa: E402

DOCUMENT = pathlib.Path(__file__).parents[2] / "docs" / "python.md"


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "model"
    weights = ("weights/1.safetensors", "weights/2.safetensors")
    for path in ("config.json", *weights, "z/empty", ".git/x", ".gitignore", "ü b"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(b"" if "empty" in path else path.encode() * 9_999)
    return folder


def git_blob(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).digest()


def test_the_manifest_is_that_of_model_signing(folder):
    for algorithm in ("sha256", "blake2", "blake3"):
        theirs = model_signing.hashing.Config().use_file_serialization(hashing_algorithm=algorithm)
        ours = pyhashloom.model.Hashing("git_blob", "md5").use_file_serialization(hashing_algorithm=algorithm)
        for config in theirs, ours:
            config.set_ignored_paths(paths=["z"])
        expected, found = theirs.hash(folder), ours.hash(folder)
        assert found == expected and found.model_name == expected.model_name == "model"
        assert found.serialization_type == expected.serialization_type
        assert list(found.resource_descriptors()) == list(expected.resource_descriptors())
    assert sorted(ours.files) == ["config.json", "weights/1.safetensors", "weights/2.safetensors", "ü b"]
    for path, file in ours.files.items():
        content = (folder / path).read_bytes()
        assert file.digests[1:] == (git_blob(content), hashlib.md5(content).digest())
    # One file, and shards, which model_signing hashes.
    one = folder / "config.json"
    assert pyhashloom.model.Hashing().hash(one) == model_signing.hashing.Config().hash(one)
    shards = [kind().use_shard_serialization(shard_size=1000) for kind in (model_signing.hashing.Config, type(ours))]
    assert shards[0].hash(folder) == shards[1].hash(folder)


def test_what_is_refused(folder):
    with pytest.raises(ValueError, match="unsupported hash type"):
        pyhashloom.model.Hashing("sha257")
    (folder / "link").symlink_to("config.json")
    with pytest.raises(ValueError, match="symlink"):
        pyhashloom.model.Hashing().hash(folder)
    (folder / "link").unlink()
    config = pyhashloom.model.Hashing()
    with pytest.raises(ValueError, match="missing"):
        config.hash(folder, files_to_hash=[folder / "missing"])
    if os.geteuid():
        (folder / "config.json").chmod(0)
        with pytest.raises(pyhashloom.FileError, match="config.json"):
            config.hash(folder)
    assert config.files == {}


def test_a_file_that_goes_after_the_walk(folder, monkeypatch):
    walk = model_signing.hashing.Config.hash

    def hash(self, *args, **kwargs):
        found = walk(self, *args, **kwargs)
        (folder / "config.json").unlink()
        (folder / "config.json").mkdir()
        return found

    monkeypatch.setattr(model_signing.hashing.Config, "hash", hash)
    with pytest.raises(pyhashloom.FileError, match="config.json"):
        pyhashloom.model.Hashing("git_blob").hash(folder)


def test_the_example_signs_and_model_signing_verifies(folder, monkeypatch):
    ec = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ec", reason="SKIPPED: models: no cryptography")
    from cryptography.hazmat.primitives import serialization as form

    key = ec.generate_private_key(ec.SECP256R1())
    private = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    public = key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
    (folder.parent / "key.pem").write_bytes(private)
    (folder.parent / "key.pub").write_bytes(public)
    monkeypatch.chdir(folder.parent)
    example = re.search(r"test_model\.py does it -->\n```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)[1]
    found = {}
    exec(example, found)
    assert found["lfs"]["weights/1.safetensors"] == hashlib.sha256(b"weights/1.safetensors" * 9_999).hexdigest()
    verify = model_signing.verifying.Config().use_elliptic_key_verifier(public_key="key.pub").verify
    verify(pathlib.Path("model"), pathlib.Path("model.sig"))
    ours = model_signing.verifying.Config().use_elliptic_key_verifier(public_key="key.pub")
    ours = ours.set_hashing_config(pyhashloom.model.Hashing())
    ours.verify(pathlib.Path("model"), pathlib.Path("model.sig"))
    (folder / "z" / "empty").write_bytes(b"?")
    for check in verify, ours.verify:
        with pytest.raises(ValueError, match="Signature mismatch"):
            check(pathlib.Path("model"), pathlib.Path("model.sig"))
