// SPDX-License-Identifier: MIT OR Apache-2.0

//! OpenSSL's digests through the machine's libcrypto. It is found at run time, so the program also runs on machines
//! that have no libcrypto.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_uint, c_void};
use std::ptr::{self, NonNull};

use hashloom::Algorithm;
use libloading::Library;

use super::HashMany;

/// Names of libcrypto version 3, the first that has `EVP_MD_fetch`. Names that carry no version are not tried: macOS
/// ends a process that loads its own `libcrypto.dylib`.
const NAMES: &[&str] = if cfg!(windows) {
    &["libcrypto-3-x64.dll", "libcrypto-3-arm64.dll", "libcrypto-3.dll"]
} else if cfg!(target_vendor = "apple") {
    &[
        "libcrypto.3.dylib",
        "/opt/homebrew/opt/openssl@3/lib/libcrypto.3.dylib",
        "/usr/local/opt/openssl@3/lib/libcrypto.3.dylib",
    ]
} else {
    &["libcrypto.so.3"]
};

/// `OPENSSL_VERSION` of <openssl/crypto.h>.
const VERSION: c_int = 0;

/// Declares the functions used, by their C names, and looks them up.
macro_rules! functions {
    ($(fn $name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The C functions, valid as long as the library is loaded.
        #[allow(non_snake_case)]
        struct Functions {
            $($name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Functions {
            /// # Safety
            ///
            /// `library` is OpenSSL's libcrypto.
            unsafe fn find(library: &Library) -> Result<Functions, String> {
                Ok(Functions {
                    $($name: {
                        // SAFETY: by its manual page libcrypto has this function under this name.
                        let found = unsafe { library.get(concat!(stringify!($name), "\0").as_bytes()) };
                        *found.map_err(|_| concat!("has no ", stringify!($name), ": OpenSSL 3 is needed").to_owned())?
                    },)*
                })
            }
        }
    };
}

functions! {
    fn OpenSSL_version(c_int) -> *const c_char;
    fn EVP_MD_fetch(*mut c_void, *const c_char, *const c_char) -> *mut c_void;
    fn EVP_MD_get_size(*const c_void) -> c_int;
    fn EVP_MD_free(*mut c_void);
    fn EVP_MD_CTX_new() -> *mut c_void;
    fn EVP_MD_CTX_free(*mut c_void);
    fn EVP_DigestInit_ex(*mut c_void, *const c_void, *mut c_void) -> c_int;
    fn EVP_DigestUpdate(*mut c_void, *const c_void, usize) -> c_int;
    fn EVP_DigestFinal_ex(*mut c_void, *mut u8, *mut c_uint) -> c_int;
    fn EVP_DigestFinalXOF(*mut c_void, *mut u8, usize) -> c_int;
}

pub struct OpenSsl {
    functions: Functions,
    /// `OpenSSL 3.0.22`
    name: String,
}

impl OpenSsl {
    /// Loads the libcrypto that the system's loader finds.
    pub fn of_system() -> Result<OpenSsl, String> {
        first_of(NAMES)
    }

    /// Loads libcrypto from a file, or by a name that the system's loader finds.
    pub fn load(file: &OsStr) -> Result<OpenSsl, String> {
        let shown = hashloom_engine::text::shown(file.as_encoded_bytes());
        // SAFETY: loading runs the library's initialisers. Any thread may run OpenSSL's at any time; the user asked for
        // FILE, even if it is not OpenSSL.
        let library = unsafe { Library::new(file) }.map_err(|error| format!("{shown}: {error}"))?;
        // SAFETY: the library has all of these names, so as far as can be told it is libcrypto.
        let functions = unsafe { Functions::find(&library) }.map_err(|error| format!("{shown} {error}"))?;
        // libcrypto has registered functions that run when the process ends.
        std::mem::forget(library);
        // SAFETY: returns a static string for any argument.
        let version = unsafe { CStr::from_ptr((functions.OpenSSL_version)(VERSION)) }.to_string_lossy().into_owned();
        // "OpenSSL 3.0.22 25 Aug 2026": take the name and the version.
        let name = version.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        Ok(OpenSsl { functions, name })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn hash_many(&self, algorithm: Algorithm) -> Result<HashMany<'_>, String> {
        let digester = Digester::new(&self.functions, algorithm)?;
        Ok(Box::new(move |messages, digests| {
            for (message, digest) in messages.iter().zip(digests.chunks_exact_mut(algorithm.digest_nbytes())) {
                digester.digest(message, digest);
            }
        }))
    }
}

fn first_of(names: &[&str]) -> Result<OpenSsl, String> {
    let mut reason = String::new();
    for name in names {
        match OpenSsl::load(OsStr::new(name)) {
            Ok(openssl) => return Ok(openssl),
            Err(error) => reason = error,
        }
    }
    Err(format!("not found: {reason}"))
}

/// An algorithm and a context. The context is used again for each message, as OpenSSL's manual advises for speed.
struct Digester<'a> {
    functions: &'a Functions,
    md: NonNull<c_void>,
    context: NonNull<c_void>,
    algorithm: Algorithm,
}

impl<'a> Digester<'a> {
    fn new(functions: &'a Functions, algorithm: Algorithm) -> Result<Digester<'a>, String> {
        // OpenSSL knows all algorithms by the same names, case aside.
        let name = CString::new(algorithm.name()).expect("a name has no NUL");
        // SAFETY: the name is NUL-terminated; NULL is the default context and no properties.
        let md = unsafe { (functions.EVP_MD_fetch)(ptr::null_mut(), name.as_ptr(), ptr::null()) };
        let Some(md) = NonNull::new(md) else { return Err(format!("does not offer {algorithm}")) };
        // SAFETY: there is no condition.
        let context = unsafe { (functions.EVP_MD_CTX_new)() };
        let Some(context) = NonNull::new(context) else {
            // SAFETY: md is ours and no longer used.
            unsafe { (functions.EVP_MD_free)(md.as_ptr()) };
            return Err("out of memory".into());
        };
        let digester = Digester { functions, md, context, algorithm };
        // SAFETY: md is alive.
        let len = unsafe { (functions.EVP_MD_get_size)(md.as_ptr()) };
        let expected = algorithm.digest_nbytes();
        if usize::try_from(len) != Ok(expected) && !algorithm.is_xof() {
            return Err(format!("gives {algorithm} digests of {len} bytes, not {expected}"));
        }
        Ok(digester)
    }

    fn digest(&self, message: &[u8], digest: &mut [u8]) {
        assert_eq!(digest.len(), self.algorithm.digest_nbytes());
        let (f, context) = (self.functions, self.context.as_ptr());
        // SAFETY: the context and md are alive, and this type is not Sync; message and digest are slices; digest has room
        // for the algorithm's output, as asserted above and in `new`.
        let done = unsafe {
            (f.EVP_DigestInit_ex)(context, self.md.as_ptr(), ptr::null_mut()) == 1
                && (f.EVP_DigestUpdate)(context, message.as_ptr().cast(), message.len()) == 1
                && match self.algorithm.is_xof() {
                    true => (f.EVP_DigestFinalXOF)(context, digest.as_mut_ptr(), digest.len()) == 1,
                    false => (f.EVP_DigestFinal_ex)(context, digest.as_mut_ptr(), ptr::null_mut()) == 1,
                }
        };
        assert!(done, "OpenSSL failed to hash {} bytes", message.len());
    }
}

impl Drop for Digester<'_> {
    fn drop(&mut self) {
        // SAFETY: both are ours and no longer used.
        unsafe {
            (self.functions.EVP_MD_CTX_free)(self.context.as_ptr());
            (self.functions.EVP_MD_free)(self.md.as_ptr());
        }
    }
}

#[cfg(test)]
#[path = "../../../../test/skipped.rs"]
mod skipped;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_there_is_named() {
        let error = first_of(&["libno-such-crypto.so.3"]).err().unwrap();
        assert!(error.starts_with("not found: libno-such-crypto.so.3: "), "{error}");
    }

    #[test]
    fn digests() {
        let openssl = match OpenSsl::of_system() {
            Ok(openssl) => openssl,
            Err(error) => return skipped::skipped(format!("OpenSSL {error}")),
        };
        assert!(
            openssl.name().starts_with("OpenSSL 3.") || openssl.name().starts_with("OpenSSL 4."),
            "{}",
            openssl.name()
        );
        let messages: [&[u8]; 3] = [b"", b"abc", &[7; 1000]];
        for &algorithm in Algorithm::ALL {
            let mut found = vec![0; messages.len() * algorithm.digest_nbytes()];
            match openssl.hash_many(algorithm) {
                Ok(hash_many) => hash_many(&messages, &mut found),
                Err(error) => {
                    skipped::skipped_part(openssl.name(), error);
                    continue;
                }
            }
            let mut expected = found.clone();
            hashloom::hash_many(algorithm, &messages, &mut expected);
            assert!(found == expected, "{algorithm}");
        }
    }
}
