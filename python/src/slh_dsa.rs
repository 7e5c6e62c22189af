// SPDX-License-Identifier: MIT OR Apache-2.0
//! SLH-DSA: the calls behind the module `pyhashloom.slh_dsa`.

use std::num::NonZeroUsize;

use hashloom_slh::pkcs8::{DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey};
use hashloom_slh::{Error, Message, ParameterSet, Randomness, Work};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use zeroize::Zeroizing;

use crate::buffer::{Data, at};
use crate::hash::algorithm;
use crate::signals::Signals;
use crate::work::nthreads;

const THREADS_MAX: usize = 1024;

fn raised(error: Error) -> PyErr {
    match error {
        Error::Fault | Error::Stopped => PyRuntimeError::new_err(error.to_string()),
        Error::NoRandomness => PyOSError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

fn not_a_key(expected: &str, error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("expected {expected} of SLH-DSA: {error}"))
}

fn set(name: &str) -> PyResult<ParameterSet> {
    name.parse().map_err(|_| {
        let names = ParameterSet::ALL.map(ParameterSet::name).join(", ");
        PyValueError::new_err(format!("unknown parameter set {name:?}: expected one of {names}"))
    })
}

/// Works without the interpreter lock, until a signal raises an exception.
fn run<T: Send>(py: Python<'_>, threads: usize, work: impl FnOnce(Work<'_>) -> Result<T, Error> + Send) -> PyResult<T> {
    let (mut seen, mut signals) = (Ok(()), Signals::new());
    let nthreads = NonZeroUsize::new(nthreads(threads).min(THREADS_MAX)).unwrap_or(NonZeroUsize::MIN);
    let mut look = || {
        seen = signals.check();
        seen.is_err()
    };
    let done = py.detach(|| work(Work::new().threads(nthreads).until(&mut look)));
    seen?;
    done.map_err(raised)
}

/// How messages become what is signed.
struct Form<'py> {
    context: Data<'py>,
    prehash: Option<hashloom::Algorithm>,
}

impl<'py> Form<'py> {
    fn new(py: Python<'py>, context: Option<&Bound<'py, PyAny>>, prehash: Option<&str>) -> PyResult<Self> {
        let context = match context {
            Some(context) => Data::named(context, "context")?,
            None => Data::Bytes(PyBytes::new(py, b"")),
        };
        Ok(Form { context, prehash: prehash.map(algorithm).transpose()? })
    }

    fn message<'a>(&'a self, data: &'a Data<'_>) -> PyResult<Message<'a>> {
        let message = match self.prehash {
            Some(algorithm) => Message::prehashed(algorithm, data.bytes()).map_err(raised)?,
            None => Message::new(data.bytes()),
        };
        message.with_context(self.context.bytes()).map_err(raised)
    }

    fn messages<'a>(&'a self, py: Python<'_>, all: &'a [Data<'_>]) -> PyResult<Vec<Message<'a>>> {
        let one = |(i, data)| self.message(data).map_err(|error| at(py, error, "message", i));
        all.iter().enumerate().map(one).collect()
    }
}

fn randomness(deterministic: bool) -> Randomness<'static> {
    if deterministic { Randomness::None } else { Randomness::System }
}

/// PEM, which may be text or bytes. A copy is wiped.
fn text_of(pem: &Bound<'_, PyAny>) -> PyResult<Zeroizing<String>> {
    if let Ok(text) = pem.cast::<PyString>() {
        return Ok(Zeroizing::new(text.to_string_lossy().into_owned()));
    }
    let data = Data::named(pem, "pem")?;
    let text = std::str::from_utf8(data.bytes());
    let text = text.map_err(|_| PyValueError::new_err("pem: these bytes are no text: give DER to from_der"))?;
    Ok(Zeroizing::new(text.to_owned()))
}

/// A secret key, with its public half. Its bytes are wiped when it goes; those of to_bytes, to_pem and to_der are not.
///
/// Any number of threads may sign with it at once. Make one with `generate`, `from_seeds`, `from_bytes`, `from_pem` or
/// `from_der`.
///
/// >>> from pyhashloom import slh_dsa
/// >>> key = slh_dsa.SigningKey.generate("SLH-DSA-SHA2-128f")
/// >>> signature = key.sign(b"message", context=b"example.org")
/// >>> key.verifying_key.verify(b"message", signature, context=b"example.org")
/// True
/// >>> slh_dsa.SigningKey.from_seeds("SLH-DSA-SHA2-128f", bytes(48)).to_bytes()[48:].hex()
/// '21efcf729673137ed71ab360986c8751'
/// >>> slh_dsa.SigningKey.from_pem(key.to_pem()).verifying_key == key.verifying_key
/// True
#[pyclass(frozen, module = "pyhashloom.slh_dsa")]
pub struct SigningKey {
    key: hashloom_slh::SigningKey,
}

#[pymethods]
impl SigningKey {
    /// Makes a new key from random bytes of the system. OSError if it has none.
    #[staticmethod]
    #[pyo3(signature = (parameter_set, *, threads = 1))]
    fn generate(py: Python<'_>, parameter_set: &str, threads: usize) -> PyResult<SigningKey> {
        let set = set(parameter_set)?;
        let key = run(py, threads, |work| hashloom_slh::SigningKey::generate_with(set, work))?;
        Ok(SigningKey { key })
    }

    /// Returns the key of three secret random seeds in a row: SK.seed, SK.prf and PK.seed, of 16, 24 or 32 bytes each.
    #[staticmethod]
    #[pyo3(signature = (parameter_set, seeds, *, threads = 1))]
    fn from_seeds(parameter_set: &str, seeds: &Bound<'_, PyAny>, threads: usize) -> PyResult<SigningKey> {
        let (set, data) = (set(parameter_set)?, Data::named(seeds, "seeds")?);
        let bytes = data.bytes();
        let key = run(seeds.py(), threads, |work| hashloom_slh::SigningKey::from_seeds_with(set, bytes, work))?;
        Ok(SigningKey { key })
    }

    /// Returns the key that to_bytes gave: SK.seed, SK.prf, PK.seed and PK.root.
    #[staticmethod]
    fn from_bytes(parameter_set: &str, data: &Bound<'_, PyAny>) -> PyResult<SigningKey> {
        let key = hashloom_slh::SigningKey::from_bytes(set(parameter_set)?, Data::named(data, "data")?.bytes());
        Ok(SigningKey { key: key.map_err(raised)? })
    }

    /// Returns the key of a PEM text, "BEGIN PRIVATE KEY" (PKCS#8, RFC 9909), as OpenSSL 3.5 writes it.
    #[staticmethod]
    fn from_pem(pem: &Bound<'_, PyAny>) -> PyResult<SigningKey> {
        let key = hashloom_slh::SigningKey::from_pkcs8_pem(&text_of(pem)?);
        Ok(SigningKey { key: key.map_err(|error| not_a_key("a private key in PEM", error))? })
    }

    /// Returns the key of the bytes of PKCS#8, DER.
    #[staticmethod]
    fn from_der(der: &Bound<'_, PyAny>) -> PyResult<SigningKey> {
        let key = hashloom_slh::SigningKey::from_pkcs8_der(Data::named(der, "der")?.bytes());
        Ok(SigningKey { key: key.map_err(|error| not_a_key("a private key in DER", error))? })
    }

    /// Returns SK.seed, SK.prf, PK.seed and PK.root.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.key.as_bytes())
    }

    /// Returns the key as PEM, not encrypted.
    fn to_pem(&self) -> PyResult<String> {
        let pem =
            self.key.to_pkcs8_pem(Default::default()).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok(pem.to_string())
    }

    /// Returns the key as DER (PKCS#8), not encrypted.
    fn to_der<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let der = self.key.to_pkcs8_der().map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok(PyBytes::new(py, der.as_bytes()))
    }

    /// The public key.
    #[getter]
    fn verifying_key(&self) -> VerifyingKey {
        VerifyingKey { key: self.key.verifying_key() }
    }

    /// The name of the parameter set.
    #[getter]
    fn parameter_set(&self) -> &'static str {
        self.key.parameter_set().name()
    }

    /// Returns a signature of the message.
    ///
    /// `context`: up to 255 bytes that say what the signature is for; whoever verifies gives the same. `prehash`: a
    /// hash of SHA-2, SHA-3 or SHAKE, such as "sha512"; the message then is a digest by it (HashSLH-DSA).
    /// `deterministic`: without random bytes. `threads`: the most threads; 0 means one for each CPU. Ctrl-C stops it.
    /// The signature is verified before it is returned: RuntimeError if the machine erred or the halves of the key do
    /// not belong together.
    #[pyo3(signature = (message, *, context = None, prehash = None, deterministic = false, threads = 1))]
    fn sign<'py>(
        &self,
        message: &Bound<'py, PyAny>,
        context: Option<&Bound<'py, PyAny>>,
        prehash: Option<&str>,
        deterministic: bool,
        threads: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let py = message.py();
        let (form, data) = (Form::new(py, context, prehash)?, Data::named(message, "message")?);
        let message = form.message(&data)?;
        let signature = run(py, threads, |work| self.key.sign_message_with(message, randomness(deterministic), work))?;
        Ok(PyBytes::new(py, signature.as_ref()))
    }

    /// Returns a list of the signatures of messages. The parameters are those of `sign`.
    ///
    /// >>> from pyhashloom import slh_dsa
    /// >>> key = slh_dsa.SigningKey.from_seeds("SLH-DSA-SHA2-128f", bytes(48))
    /// >>> signatures = key.sign_many([b"one", b"two"], deterministic=True)
    /// >>> signatures[0] == key.sign(b"one", deterministic=True)
    /// True
    #[pyo3(signature = (messages, *, context = None, prehash = None, deterministic = false, threads = 1))]
    fn sign_many<'py>(
        &self,
        messages: &Bound<'py, PyAny>,
        context: Option<&Bound<'py, PyAny>>,
        prehash: Option<&str>,
        deterministic: bool,
        threads: usize,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let py = messages.py();
        let (form, all) = (Form::new(py, context, prehash)?, Data::of_all(messages, "message")?);
        let messages = form.messages(py, &all)?;
        let signatures = run(py, threads, |work| self.key.sign_many(&messages, randomness(deterministic), work))?;
        Ok(signatures.iter().map(|signature| PyBytes::new(py, signature.as_ref())).collect())
    }

    /// Signs the bytes themselves, without a context: slh_sign_internal (FIPS 205 section 9.2), for protocols and tests
    /// that say so. `randomness`: 16, 24 or 32 bytes, or None: deterministic.
    #[pyo3(signature = (message, randomness = None))]
    fn sign_internal<'py>(
        &self,
        message: &Bound<'py, PyAny>,
        randomness: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (py, data) = (message.py(), Data::named(message, "message")?);
        let fresh = randomness.map(|bytes| Data::named(bytes, "randomness")).transpose()?;
        let (message, fresh) = (data.bytes(), fresh.as_ref().map(Data::bytes));
        let randomness = fresh.map_or(Randomness::None, Randomness::Fresh);
        let signature = run(py, 1, |work| self.key.sign_message_with(Message::internal(message), randomness, work))?;
        Ok(PyBytes::new(py, signature.as_ref()))
    }

    fn __repr__(&self) -> String {
        format!("<pyhashloom.slh_dsa.SigningKey {}>", self.parameter_set())
    }
}

/// A public key. Keys can be compared, and be keys of a dict.
///
/// >>> from pyhashloom import slh_dsa
/// >>> key = slh_dsa.VerifyingKey.from_bytes("SLH-DSA-SHA2-128s", bytes(32))
/// >>> key.verify(b"message", bytes(7856))
/// False
#[pyclass(frozen, eq, hash, module = "pyhashloom.slh_dsa")]
#[derive(PartialEq, Eq, Hash)]
pub struct VerifyingKey {
    key: hashloom_slh::VerifyingKey,
}

#[pymethods]
impl VerifyingKey {
    /// Returns the key that to_bytes gave: PK.seed and PK.root.
    #[staticmethod]
    fn from_bytes(parameter_set: &str, data: &Bound<'_, PyAny>) -> PyResult<VerifyingKey> {
        let key = hashloom_slh::VerifyingKey::from_bytes(set(parameter_set)?, Data::named(data, "data")?.bytes());
        Ok(VerifyingKey { key: key.map_err(raised)? })
    }

    /// Returns the key of a PEM text, "BEGIN PUBLIC KEY" (RFC 9909), as OpenSSL 3.5 writes it.
    #[staticmethod]
    fn from_pem(pem: &Bound<'_, PyAny>) -> PyResult<VerifyingKey> {
        let key = hashloom_slh::VerifyingKey::from_public_key_pem(&text_of(pem)?);
        Ok(VerifyingKey { key: key.map_err(|error| not_a_key("a public key in PEM", error))? })
    }

    /// Returns the key of the bytes of SubjectPublicKeyInfo, DER.
    #[staticmethod]
    fn from_der(der: &Bound<'_, PyAny>) -> PyResult<VerifyingKey> {
        let key = hashloom_slh::VerifyingKey::from_public_key_der(Data::named(der, "der")?.bytes());
        Ok(VerifyingKey { key: key.map_err(|error| not_a_key("a public key in DER", error))? })
    }

    /// Returns PK.seed and PK.root.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.key.as_bytes())
    }

    /// Returns the key as PEM.
    fn to_pem(&self) -> PyResult<String> {
        self.key.to_public_key_pem(Default::default()).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// Returns the key as DER (SubjectPublicKeyInfo).
    fn to_der<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let der = self.key.to_public_key_der().map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok(PyBytes::new(py, der.as_bytes()))
    }

    /// The name of the parameter set.
    #[getter]
    fn parameter_set(&self) -> &'static str {
        self.key.parameter_set().name()
    }

    /// Returns whether the signature is one of this message by this key. `context` and `prehash` are those of `sign`.
    ///
    /// What is not a signature of this kind at all, such as bytes of another length, is not valid either.
    #[pyo3(signature = (message, signature, *, context = None, prehash = None))]
    fn verify<'py>(
        &self,
        message: &Bound<'py, PyAny>,
        signature: &Bound<'py, PyAny>,
        context: Option<&Bound<'py, PyAny>>,
        prehash: Option<&str>,
    ) -> PyResult<bool> {
        let py = message.py();
        let (form, data) = (Form::new(py, context, prehash)?, Data::named(message, "message")?);
        let (message, signature) = (form.message(&data)?, Data::named(signature, "signature")?);
        let signature = signature.bytes();
        Ok(py.detach(|| self.key.verify_message(message, signature).is_ok()))
    }

    /// Returns a list: whether each signature is one of its message. They are verified side by side.
    #[pyo3(signature = (messages, signatures, *, context = None, prehash = None, threads = 1))]
    fn verify_many<'py>(
        &self,
        messages: &Bound<'py, PyAny>,
        signatures: &Bound<'py, PyAny>,
        context: Option<&Bound<'py, PyAny>>,
        prehash: Option<&str>,
        threads: usize,
    ) -> PyResult<Vec<bool>> {
        let form = Form::new(messages.py(), context, prehash)?;
        verify_all(&form, None, messages, signatures, threads, |messages, signatures, work| {
            self.key.verify_many(messages, signatures, work)
        })
    }

    /// Returns whether the signature is one of slh_sign_internal: see SigningKey.sign_internal.
    fn verify_internal(&self, message: &Bound<'_, PyAny>, signature: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = message.py();
        let (message, signature) = (Data::named(message, "message")?, Data::named(signature, "signature")?);
        let (message, signature) = (Message::internal(message.bytes()), signature.bytes());
        Ok(py.detach(|| self.key.verify_message(message, signature).is_ok()))
    }

    fn __repr__(&self) -> String {
        let bytes: String = self.key.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        format!("<pyhashloom.slh_dsa.VerifyingKey {} {bytes}>", self.parameter_set())
    }
}

/// `nkeys`: None if one key is that of all messages.
fn verify_all(
    form: &Form<'_>,
    nkeys: Option<usize>,
    messages: &Bound<'_, PyAny>,
    signatures: &Bound<'_, PyAny>,
    threads: usize,
    verify: impl FnOnce(&[Message<'_>], &[&[u8]], Work<'_>) -> Result<Vec<bool>, Error> + Send,
) -> PyResult<Vec<bool>> {
    let py = messages.py();
    let (all, signatures) = (Data::of_all(messages, "message")?, Data::of_all(signatures, "signature")?);
    for (what, found) in [("key", nkeys.unwrap_or(all.len())), ("signature", signatures.len())] {
        if found != all.len() {
            let message = format!("expected a {what} for each message, found {found} for {}", all.len());
            return Err(PyValueError::new_err(message));
        }
    }
    let messages = form.messages(py, &all)?;
    let signatures: Vec<&[u8]> = signatures.iter().map(Data::bytes).collect();
    run(py, threads, |work| verify(&messages, &signatures, work))
}

/// Returns a list: whether each signature is one of its message by its key. They are verified side by side.
///
/// ValueError unless there are as many keys and signatures as messages, and all keys are of one parameter set.
///
/// >>> from pyhashloom import slh_dsa
/// >>> keys = [slh_dsa.SigningKey.generate("SLH-DSA-SHA2-128f") for _ in range(2)]
/// >>> signatures = [key.sign(b"message") for key in keys]
/// >>> slh_dsa.verify_many([key.verifying_key for key in keys], [b"message", b"another"], signatures)
/// [True, False]
#[pyfunction]
#[pyo3(signature = (keys, messages, signatures, *, context = None, prehash = None, threads = 1))]
fn slh_dsa_verify_many<'py>(
    keys: &Bound<'py, PyAny>,
    messages: &Bound<'py, PyAny>,
    signatures: &Bound<'py, PyAny>,
    context: Option<&Bound<'py, PyAny>>,
    prehash: Option<&str>,
    threads: usize,
) -> PyResult<Vec<bool>> {
    let form = Form::new(keys.py(), context, prehash)?;
    let key = |(i, object): (usize, PyResult<Bound<'py, PyAny>>)| match object?.cast::<VerifyingKey>() {
        Ok(key) => Ok(key.get().key),
        Err(error) => Err(PyTypeError::new_err(format!("key {i}: expected a VerifyingKey: {error}"))),
    };
    let keys: Vec<_> = keys.try_iter()?.enumerate().map(key).collect::<PyResult<_>>()?;
    verify_all(&form, Some(keys.len()), messages, signatures, threads, |messages, signatures, work| {
        hashloom_slh::verify_many(&keys, messages, signatures, work)
    })
}

pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("slh_dsa_parameter_sets", ParameterSet::ALL.map(ParameterSet::name).to_vec())?;
    module.add_class::<SigningKey>()?;
    module.add_class::<VerifyingKey>()?;
    module.add_function(wrap_pyfunction!(slh_dsa_verify_many, module)?)
}
