// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernels of this build, and the choice among them: for tests, benchmarks and finding faults.
//!
//! A *kernel* is one block function (for example SHA-1's, or the one of SHA-224 and SHA-256) for one instruction set;
//! it advances a fixed number of messages. The library chooses the fastest kernel that the CPU has for the number of
//! messages at hand without any call to this module. Every kernel gives the same digests.
//!
//! Instruction sets have the same names everywhere (`scalar`, `sse2`, `avx2`, `avx512`, `sha`, …): here, in the
//! C library, in the program and in its environment variable.

use alloc::string::String;
use core::error::Error;
use core::fmt;
use core::str::FromStr;

use hashloom_sys as sys;

use crate::many::check_room;
use crate::{Algorithm, ffi};

/// A set of instruction sets that this build has kernels for.
///
/// [`Display`](fmt::Display) writes the names with commas between them, which [`parse`](IsaSet::parse) takes.
///
/// ```
/// use hashloom::kernels::{IsaSet, ParseIsaError};
///
/// let scalar = IsaSet::parse("scalar")?;
/// assert!(IsaSet::available().contains(scalar) && IsaSet::available().contains(IsaSet::allowed()));
/// assert_eq!(scalar.names().collect::<Vec<_>>(), ["scalar"]);
/// println!("built, but not on this machine: {}", IsaSet::built() - IsaSet::available());
/// let Err(ParseIsaError::Unknown { name }) = IsaSet::parse("scalar,avx9") else { panic!() };
/// assert_eq!(&*name, "avx9");
/// # Ok::<(), hashloom::kernels::ParseIsaError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct IsaSet(sys::hl_isas);

impl IsaSet {
    /// All instruction sets that this build has kernels for, whether this machine can run them or not.
    pub fn built() -> Self {
        IsaSet((0..sys::hl_isa_count()).fold(0, |set, i| set | 1 << i))
    }

    /// The instruction sets that this machine, its operating system included, can run.
    pub fn available() -> Self {
        IsaSet(sys::hl_isas_available())
    }

    /// The instruction sets that may be chosen now: the available ones, or those that [`restrict`] left.
    pub fn allowed() -> Self {
        IsaSet(sys::hl_isas_allowed())
    }

    /// Reads names with commas between them, such as `avx2,sha`; blanks around a name are dropped.
    ///
    /// # Errors
    ///
    /// [`ParseIsaError`] for the first name that this build does not know or this machine does not have.
    pub fn parse(names: &str) -> Result<Self, ParseIsaError> {
        let mut set = IsaSet(0);
        for name in names.split(',').map(str::trim) {
            let known = (0..).map_while(ffi::isa_name).position(|isa| isa == name);
            let isa = IsaSet(1 << known.ok_or_else(|| ParseIsaError::Unknown { name: name.into() })?);
            if !IsaSet::available().contains(isa) {
                return Err(ParseIsaError::Unavailable { name: name.into() });
            }
            set.0 |= isa.0;
        }
        Ok(set)
    }

    /// Whether all of `other` are in this set.
    pub const fn contains(self, other: IsaSet) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether this set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The names in this set, the plainest instruction set first.
    pub fn names(self) -> impl Iterator<Item = &'static str> + Clone {
        (0..32).filter(move |i| self.0 >> i & 1 != 0).filter_map(ffi::isa_name)
    }
}

impl FromStr for IsaSet {
    type Err = ParseIsaError;

    fn from_str(names: &str) -> Result<Self, Self::Err> {
        IsaSet::parse(names)
    }
}

/// The union of both sets.
impl core::ops::BitOr for IsaSet {
    type Output = IsaSet;

    fn bitor(self, other: IsaSet) -> IsaSet {
        IsaSet(self.0 | other.0)
    }
}

/// The members of the first set that are not in the second.
impl core::ops::Sub for IsaSet {
    type Output = IsaSet;

    fn sub(self, other: IsaSet) -> IsaSet {
        IsaSet(self.0 & !other.0)
    }
}

impl fmt::Display for IsaSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, name) in self.names().enumerate() {
            write!(f, "{}{name}", if i == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl fmt::Debug for IsaSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IsaSet({self})")
    }
}

/// Why a list of names is not a set of instruction sets. The text lists the available ones.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseIsaError {
    /// This build has no kernels for an instruction set of that name.
    Unknown {
        /// The name as given, without the blanks around it.
        name: String,
    },
    /// This build has kernels for the instruction set, but this machine or its operating system cannot run them.
    Unavailable {
        /// The name of the instruction set.
        name: String,
    },
}

impl fmt::Display for ParseIsaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseIsaError::Unknown { name } => write!(f, "unknown instruction set {name:?}")?,
            ParseIsaError::Unavailable { name } => write!(f, "this machine cannot run {name}")?,
        }
        write!(f, "; available here: {}", IsaSet::available())
    }
}

impl Error for ParseIsaError {}

/// Restricts the choice in the whole process, from now on, to kernels of these instruction sets.
///
/// The call is safe at any time and from any thread: every digest is right whatever is chosen, and calls under way end
/// with the choice that they began with.
///
/// # Errors
///
/// [`RestrictError`], and no change, if an instruction set is not available or they leave an algorithm without any
/// kernel.
///
/// ```
/// use hashloom::kernels::{IsaSet, RestrictError, restrict, unrestrict};
///
/// let isas = IsaSet::parse("scalar")?;
/// restrict(isas)?;
/// assert_eq!(IsaSet::allowed(), isas);
/// unrestrict();
/// let all: Result<(), RestrictError> = restrict(IsaSet::built());
/// assert_eq!(all.is_ok(), IsaSet::built() == IsaSet::available());
/// # unrestrict();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn restrict(isas: IsaSet) -> Result<(), RestrictError> {
    restrict_keeping(isas, Algorithm::ALL)
}

/// Like [`restrict`], but only this algorithm must keep a kernel. Use it for `sha`, which has kernels of SHA-1, SHA-224
/// and SHA-256 only.
///
/// If other algorithms are left without a kernel, plain C (`scalar`) is allowed too, so that nothing fails;
/// [`IsaSet::allowed`] then contains it.
///
/// # Errors
///
/// [`RestrictError`], and no change, if an instruction set is not available or they leave this algorithm without any
/// kernel.
///
/// ```
/// use hashloom::Algorithm;
/// use hashloom::kernels::{IsaSet, chosen, restrict_for, unrestrict};
///
/// if let Ok(isas) = IsaSet::parse("sha") {
///     restrict_for(isas, Algorithm::Sha256)?;
///     assert_eq!(chosen(Algorithm::Sha256, 1).unwrap().isa(), "sha");
///     unrestrict();
/// }
/// # Ok::<(), hashloom::kernels::RestrictError>(())
/// ```
pub fn restrict_for(isas: IsaSet, algorithm: Algorithm) -> Result<(), RestrictError> {
    restrict_keeping(isas, &[algorithm])
}

/// Restricts the choice if each of `algorithms` (at least one) keeps a kernel.
fn restrict_keeping(isas: IsaSet, algorithms: &[Algorithm]) -> Result<(), RestrictError> {
    if !IsaSet::available().contains(isas) {
        return Err(RestrictError::Unavailable { isas });
    }
    for &algorithm in algorithms {
        if !kernels().any(|kernel| kernel.computes(algorithm) && isas.contains(kernel.isa_set())) {
            return Err(RestrictError::NoKernel { isas, algorithm });
        }
    }
    // An empty set would mean "no restriction"; it has no kernel and so never comes here.
    match sys::hl_restrict(isas.0) {
        sys::HL_OK => Ok(()),
        _ => Err(RestrictError::Unavailable { isas }),
    }
}

/// Lifts the restriction of [`restrict`] or [`restrict_for`]: from now on, all available instruction sets may be
/// chosen.
pub fn unrestrict() {
    sys::hl_restrict(0);
}

/// Why [`restrict`] or [`restrict_for`] changed nothing. The text lists the available instruction sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestrictError {
    /// This machine or its operating system cannot run one of the instruction sets.
    Unavailable {
        /// The set that was given.
        isas: IsaSet,
    },
    /// The set has no kernel for an algorithm that must keep one.
    NoKernel {
        /// The set that was given.
        isas: IsaSet,
        /// The algorithm that would have no kernel.
        algorithm: Algorithm,
    },
}

impl fmt::Display for RestrictError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RestrictError::Unavailable { isas } => write!(f, "this machine cannot run all of {isas}")?,
            RestrictError::NoKernel { isas, algorithm } => {
                write!(f, "no kernel for {algorithm} in the set {{{isas}}}")?
            }
        }
        write!(f, "; available here: {}", IsaSet::available())
    }
}

impl Error for RestrictError {}

/// One block function for one instruction set.
///
/// [`Display`](fmt::Display) writes the kernel's name: `sha256_blocks_avx2`.
///
/// ```
/// use hashloom::kernels::{Kernel, KernelError, kernels};
/// use hashloom::{Algorithm, hash};
///
/// let mut digest = [0; 32];
/// let of_sha256 = |kernel: &Kernel| kernel.is_available() && kernel.computes(Algorithm::Sha256);
/// for kernel in kernels().filter(of_sha256) {
///     println!("{kernel}: {} lanes, needs {}", kernel.lanes(), kernel.isa_set());
///     kernel.hash_many(Algorithm::Sha256, &["abc"], &mut digest)?;
///     assert_eq!(hash(Algorithm::Sha256, b"abc"), digest[..]);
/// }
/// let other = |kernel: &Kernel| !kernel.is_available();
/// for kernel in kernels().filter(other) {
///     let error: KernelError = kernel.hash_many(Algorithm::Sha256, &["abc"], &mut [0; 32]).unwrap_err();
///     assert!(error.to_string().contains(kernel.name()));
/// }
/// # Ok::<(), KernelError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Kernel {
    index: usize,
    info: ffi::KernelInfo,
}

/// All kernels of this build, whether this machine can run them or not.
pub fn kernels() -> impl Iterator<Item = Kernel> + Clone {
    (0..).map_while(|index| Some(Kernel { index, info: ffi::kernel(index)? }))
}

/// The C compiler that made the kernels: the first line of its version text.
///
/// ```
/// println!("kernels by {}", hashloom::kernels::compiler());
/// assert!(!hashloom::kernels::compiler().is_empty());
/// ```
pub fn compiler() -> &'static str {
    sys::COMPILER
}

/// The kernel that is chosen when `nmessages` messages are left; `None` for 0 messages.
pub fn chosen(algorithm: Algorithm, nmessages: usize) -> Option<Kernel> {
    let index = (nmessages > 0).then(|| ffi::chosen(algorithm, nmessages))??;
    Some(Kernel { index, info: ffi::kernel(index)? })
}

impl Kernel {
    /// The kernel's name, which no other kernel has.
    pub fn name(&self) -> &'static str {
        self.info.name
    }

    /// The name of the kernel's instruction set.
    pub fn isa(&self) -> &'static str {
        self.info.isa
    }

    /// The kernel's instruction set, as a set.
    pub fn isa_set(&self) -> IsaSet {
        IsaSet(self.info.isas)
    }

    /// Whether the kernel is the block function of this algorithm ("hash computation" in FIPS 180-4). Several
    /// algorithms can share one block function.
    pub fn computes(&self, algorithm: Algorithm) -> bool {
        algorithm.body() == self.info.body
    }

    /// Number of messages that the kernel advances at once.
    pub fn lanes(&self) -> usize {
        self.info.nlanes
    }

    /// Whether this machine, its operating system included, can run the kernel.
    pub fn is_available(&self) -> bool {
        IsaSet::available().contains(self.isa_set())
    }

    /// Does what [`hash_many`](crate::hash_many) does, with this kernel and no other, whatever [`restrict`] says.
    ///
    /// # Errors
    ///
    /// [`KernelError`], and nothing is written, if this machine cannot run the kernel or the kernel has another
    /// algorithm.
    ///
    /// # Panics
    ///
    /// In the same cases as [`hash_many`](crate::hash_many).
    pub fn hash_many<M: AsRef<[u8]>>(
        &self,
        algorithm: Algorithm,
        messages: &[M],
        digests: &mut [u8],
    ) -> Result<(), KernelError> {
        check_room(algorithm, messages.len(), digests);
        self.check(algorithm)?;
        ffi::hash_many_with(self.index, algorithm, messages, digests);
        Ok(())
    }

    fn check(&self, algorithm: Algorithm) -> Result<(), KernelError> {
        if !self.computes(algorithm) {
            return Err(KernelError::OtherAlgorithm { kernel: *self, algorithm });
        }
        if !self.is_available() {
            return Err(KernelError::Unavailable { kernel: *self });
        }
        Ok(())
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kernel({self})")
    }
}

/// Why [`Kernel::hash_many`] did nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KernelError {
    /// This machine or its operating system cannot run the kernel.
    Unavailable {
        /// The kernel.
        kernel: Kernel,
    },
    /// The kernel computes another block function.
    OtherAlgorithm {
        /// The kernel.
        kernel: Kernel,
        /// The algorithm that was asked for.
        algorithm: Algorithm,
    },
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KernelError::Unavailable { kernel } => {
                write!(f, "this machine cannot run the kernel {kernel}; available here: {}", IsaSet::available())
            }
            KernelError::OtherAlgorithm { kernel, algorithm } => {
                write!(f, "the kernel {kernel} does not compute {algorithm}")
            }
        }
    }
}

impl Error for KernelError {}
