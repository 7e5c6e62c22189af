// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lists the devices of this machine, and opens one. An open device keeps the first error that it had.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hashloom::Algorithm;

#[cfg(feature = "cuda")]
use crate::cuda::{self, Cuda};
use crate::error::Error;
use crate::graph::Language;

/// A device that does not answer for this long is lost.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// A device of this machine, as its driver describes it.
///
/// ```
/// use hashloom_gpu::{Adapter, adapters};
///
/// for Adapter { name, kind, driver, .. } in adapters() {
///     println!("{name}: {kind}, {driver}");
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Adapter {
    /// The device's name.
    pub name: String,
    /// `discrete GPU`, `integrated GPU`, `virtual GPU`, `CPU` or `other`. A CPU is a driver that computes on the CPU.
    pub kind: &'static str,
    /// The interface that the device is reached by: `vulkan`, `metal`, `dx12`, or with the feature `cuda` also `cuda`.
    pub interface: String,
    /// The driver and its version.
    pub driver: String,
}

/// The devices of this machine, the fastest kinds first. A device with two interfaces is there twice, CUDA behind the
/// other.
#[must_use]
pub fn adapters() -> Vec<Adapter> {
    enumerate().into_iter().map(|(adapter, _)| adapter).collect()
}

/// The way to open a device.
enum Handle {
    Wgpu(wgpu::Adapter),
    /// The number that the driver gives to the device.
    #[cfg(feature = "cuda")]
    Cuda(i32),
}

fn enumerate() -> Vec<(Adapter, Handle)> {
    // A loader or a driver that fails must not end the program.
    let found = catch_unwind(|| {
        let backends = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12;
        let instance = wgpu::Instance::new(&wgpu::InstanceDescriptor { backends, ..Default::default() });
        instance.enumerate_adapters(backends)
    });
    let mut found: Vec<_> =
        found.unwrap_or_default().into_iter().map(|adapter| (described(&adapter), Handle::Wgpu(adapter))).collect();
    #[cfg(feature = "cuda")]
    found.extend(cuda::adapters().into_iter().map(|(adapter, number)| (adapter, Handle::Cuda(number))));
    let rank =
        |kind: &str| ["discrete GPU", "integrated GPU", "virtual GPU", "other", "CPU"].iter().position(|&k| k == kind);
    found.sort_by_key(|(adapter, _)| rank(adapter.kind));
    found
}

fn described(adapter: &wgpu::Adapter) -> Adapter {
    let info = adapter.get_info();
    let kind = match info.device_type {
        wgpu::DeviceType::DiscreteGpu => "discrete GPU",
        wgpu::DeviceType::IntegratedGpu => "integrated GPU",
        wgpu::DeviceType::VirtualGpu => "virtual GPU",
        wgpu::DeviceType::Cpu => "CPU",
        wgpu::DeviceType::Other => "other",
    };
    let driver = [info.driver, info.driver_info].join(" ").trim().to_owned();
    Adapter { name: info.name, kind, interface: info.backend.to_string(), driver }
}

/// How a device is opened.
///
/// ```
/// use hashloom_gpu::{Error, Options};
///
/// let error = Options::new().interface("abacus").open(None).unwrap_err();
/// assert!(matches!(error, Error::NotFound { .. }));
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    interface: Option<String>,
    fault: Fault,
    int64: bool,
}

/// Errors of a device, for tests.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    None,
    /// A constant of each block function is wrong.
    Constant,
    /// Digests of large calls alone are wrong, which the self-test does not have.
    LargeCalls,
}

impl Options {
    /// The default: any device.
    #[must_use]
    pub fn new() -> Self {
        Options { interface: None, fault: Fault::None, int64: true }
    }

    /// Takes only devices that are reached by this interface: one of [`Adapter::interface`].
    #[must_use]
    pub fn interface(mut self, name: &str) -> Self {
        self.interface = Some(name.to_owned());
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub fn fault(mut self, fault: Fault) -> Self {
        self.fault = fault;
        self
    }

    /// Whether shaders use words of 64 bits where the device has them: for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn int64(mut self, int64: bool) -> Self {
        self.int64 = int64;
        self
    }

    /// Opens the first device whose name contains `name`, in any case of letters, or whose interface is `name`; without
    /// a name the first device of [`adapters`].
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::NoCuda`], [`Error::TooSmall`] or [`Error::Refused`].
    pub fn open(&self, name: Option<&str>) -> Result<Device, Error> {
        let mut all = enumerate();
        if let Some(interface) = &self.interface {
            all.retain(|(adapter, _)| adapter.interface == *interface);
        }
        let wanted = name.unwrap_or_default().to_lowercase();
        let is_wanted =
            |adapter: &Adapter| adapter.name.to_lowercase().contains(&wanted) || adapter.interface == wanted;
        let Some(at) = all.iter().position(|(adapter, _)| is_wanted(adapter)) else {
            #[cfg(feature = "cuda")]
            if let Some(lack) = cuda::lack().filter(|_| wanted == "cuda" || self.interface.as_deref() == Some("cuda")) {
                return Err(Error::NoCuda { lack });
            }
            let found = all.into_iter().map(|(adapter, _)| adapter.name).collect();
            return Err(Error::NotFound { wanted: name.map(str::to_owned), found });
        };
        let (adapter, handle) = all.swap_remove(at);
        let fault = Arc::new(Mutex::new(None));
        let backend = match handle {
            Handle::Wgpu(handle) => Backend::Wgpu(Box::new(self.open_wgpu(&adapter, &handle, &fault)?)),
            #[cfg(feature = "cuda")]
            Handle::Cuda(number) => Backend::Cuda(Cuda::open(&adapter, number)?),
        };
        Ok(Device { adapter, backend, wrong: self.fault, fault, seed: AtomicU64::new(0) })
    }

    fn open_wgpu(&self, adapter: &Adapter, handle: &wgpu::Adapter, fault: &Noted) -> Result<Wgpu, Error> {
        let too_small = |lack: String| Error::TooSmall { device: adapter.name.clone(), lack };
        if !handle.get_downlevel_capabilities().flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS) {
            return Err(too_small("it has no compute shaders".to_owned()));
        }
        let required_limits = wgpu::Limits::downlevel_defaults();
        let required_features = handle.features() & wgpu::Features::SHADER_INT64;
        let has_int64 = self.int64 && !required_features.is_empty();
        let descriptor = wgpu::DeviceDescriptor { required_features, required_limits, ..Default::default() };
        let opened = catch_unwind(AssertUnwindSafe(|| pollster::block_on(handle.request_device(&descriptor))));
        let (device, queue) = match opened {
            Ok(Ok(opened)) => opened,
            Ok(Err(error)) => return Err(too_small(error.to_string())),
            Err(_) => {
                let (device, reason) = (adapter.name.clone(), "the device was not opened".into());
                return Err(Error::Refused { device, reason });
            }
        };
        let (name, keep) = (adapter.name.clone(), Arc::clone(fault));
        device.on_uncaptured_error(Box::new(move |error: wgpu::Error| {
            note(&keep, || Error::Refused { device: name.clone(), reason: one_line(&error.to_string()) });
        }));
        let (name, keep) = (adapter.name.clone(), Arc::clone(fault));
        device.set_device_lost_callback(move |_, message| {
            note(&keep, || Error::Lost { device: name.clone(), reason: one_line(&message) });
        });
        Ok(Wgpu { device, queue, language: if has_int64 { Language::WgslInt64 } else { Language::Wgsl } })
    }
}

impl Default for Options {
    fn default() -> Self {
        Options::new()
    }
}

/// An open device. Any number of threads may use one at once.
///
/// After an error the device takes no further work: each call returns the same error.
pub struct Device {
    adapter: Adapter,
    pub(crate) backend: Backend,
    pub(crate) wrong: Fault,
    fault: Noted,
    seed: AtomicU64,
}

/// The first error of a device.
type Noted = Arc<Mutex<Option<Error>>>;

/// The library that a device is reached through.
pub(crate) enum Backend {
    Wgpu(Box<Wgpu>),
    #[cfg(feature = "cuda")]
    Cuda(Cuda),
}

/// A device over Vulkan, Metal or DX12.
pub(crate) struct Wgpu {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    /// With words of 64 bits, if the device has them.
    pub language: Language,
}

impl Device {
    /// Opens a device with the default options: see [`Options::open`].
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::TooSmall`] or [`Error::Refused`].
    pub fn open(name: Option<&str>) -> Result<Device, Error> {
        Options::new().open(name)
    }

    /// The device as its driver describes it.
    #[must_use]
    pub fn adapter(&self) -> &Adapter {
        &self.adapter
    }

    /// Whether shaders use words of 64 bits: for tests.
    #[doc(hidden)]
    pub fn has_int64(&self) -> bool {
        match &self.backend {
            Backend::Wgpu(wgpu) => wgpu.language == Language::WgslInt64,
            #[cfg(feature = "cuda")]
            Backend::Cuda(_) => true,
        }
    }

    /// Gives the device up, as if it were removed: for tests.
    #[doc(hidden)]
    pub fn lose(&self) {
        match &self.backend {
            Backend::Wgpu(wgpu) => wgpu.device.destroy(),
            #[cfg(feature = "cuda")]
            Backend::Cuda(_) => drop(self.lost("it was given up")),
        }
    }

    /// Returns the first error that the device had.
    pub(crate) fn check(&self) -> Result<(), Error> {
        lock(&self.fault).clone().map_or(Ok(()), Err)
    }

    /// Notes an error, which every later call returns, unless there was one before. Returns the first one.
    pub(crate) fn fail(&self, error: Error) -> Error {
        note(&self.fault, || error.clone());
        self.check().err().unwrap_or(error)
    }

    pub(crate) fn lost(&self, reason: &str) -> Error {
        self.fail(Error::Lost { device: self.adapter.name.clone(), reason: reason.to_owned() })
    }

    pub(crate) fn found_wrong(&self, algorithm: Algorithm, check: String) -> Error {
        self.fail(Error::Wrong { device: self.adapter.name.clone(), algorithm, check })
    }

    /// Does work on the device. wgpu 26 panics if the driver reports in certain calls that the device is lost; here
    /// such a panic becomes an error. An error that the driver reported during the call counts even if the work
    /// succeeded.
    pub(crate) fn guarded<T>(&self, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        self.check()?;
        match catch_unwind(AssertUnwindSafe(work)) {
            Ok(Ok(done)) => self.check().map(|()| done),
            Ok(Err(error)) => Err(self.fail(error)),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unknown");
                Err(self.lost(&one_line(text)))
            }
        }
    }

    /// Waits until a buffer is mapped. `submission` is the one after which it is.
    pub(crate) fn wait(&self, wgpu: &Wgpu, mapped: &Mapped, submission: &wgpu::SubmissionIndex) -> Result<(), Error> {
        let begun = Instant::now();
        loop {
            // The status only says whether there is more to wait for.
            let _ = wgpu.device.poll(wgpu::PollType::WaitForSubmissionIndex(submission.clone()));
            // Another thread may have polled, and be about to tell.
            match mapped.recv_timeout(Duration::from_millis(10)) {
                Ok(Ok(())) => return self.check(),
                Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => {
                    self.check()?;
                    return Err(self.lost("a buffer could not be read"));
                }
                Err(RecvTimeoutError::Timeout) => self.check()?,
            }
            if begun.elapsed() > PATIENCE {
                return Err(self.lost("it does not answer"));
            }
        }
    }

    /// Returns a number below `n`, another one each time.
    pub(crate) fn any_below(&self, n: usize) -> usize {
        let x = self.seed.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        let x = (x ^ x >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((x ^ x >> 29) % n.max(1) as u64) as usize
    }
}

impl Wgpu {
    pub(crate) fn pipeline(&self, text: &str) -> wgpu::ComputePipeline {
        let source = wgpu::ShaderSource::Wgsl(text.into());
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
        self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: Default::default(),
            cache: None,
        })
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device").field("adapter", &self.adapter).finish_non_exhaustive()
    }
}

/// Tells that a buffer is mapped.
pub(crate) type Mapped = Receiver<Result<(), wgpu::BufferAsyncError>>;

/// Asks for a buffer to be mapped when the device is done with it.
pub(crate) fn map(buffer: &wgpu::Buffer) -> Mapped {
    let (sender, receiver) = std::sync::mpsc::channel();
    // A receiver that has gone needs no answer.
    buffer.map_async(wgpu::MapMode::Read, .., move |result| drop(sender.send(result)));
    receiver
}

/// A panic of another thread leaves an error, which is whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn note(fault: &Mutex<Option<Error>>, error: impl FnOnce() -> Error) {
    lock(fault).get_or_insert_with(error);
}

/// The words of a driver, which may be many lines, in one.
pub(crate) fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(500).collect()
}

/// The text with one bit of its last literal in hexadecimal flipped.
pub(crate) fn with_wrong_constant(text: &str) -> String {
    // Constants of 8 or 16 digits; a mask such as 0xff00u has fewer.
    let ends = text.match_indices("0x").filter_map(|(at, _)| {
        let ndigits = text[at + 2..].find(|c: char| !c.is_ascii_hexdigit())?;
        (ndigits % 8 == 0).then_some(at + 1 + ndigits)
    });
    let Some(at) = ends.last() else { return text.to_owned() };
    let wrong = if &text[at..=at] == "0" { "1" } else { "0" };
    [&text[..at], wrong, &text[at + 1..]].concat()
}
