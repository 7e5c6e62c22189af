// SPDX-License-Identifier: MIT OR Apache-2.0
//! Searches over CUDA, where no driver has Vulkan: the kernel's text goes through NVRTC. The driver and NVRTC are
//! opened when a device is asked for; a build needs neither.
//!
//! The crate `cudarc` panics if a library or a function in it is missing, so `lack` looks first, and a panic becomes an
//! error.
#![allow(unsafe_code, reason = "a kernel's launch, and questions to a library")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cudarc::driver::{
    self, CudaContext, CudaEvent, CudaFunction, CudaSlice, CudaStream, DeviceRepr, DriverError, LaunchConfig,
    PushKernelArg, sys,
};
use cudarc::nvrtc::{self, CompileError, CompileOptions};

use crate::calls::{Calls, NBACK, with_fault};
use crate::device::{Adapter, Device, PATIENCE, one_line};
use crate::error::Error;
use crate::plan::{GROUP, Plan, ROOM};

/// Words of a kernel's first parameter, at most. All parameters have room for 4 KiB, and three pointers follow.
const NPARAMS_MAX: usize = 1024 - 3 * 2;

/// A call's parameters. The kernel takes as many words as it declares.
#[repr(C)]
struct Params([u32; NPARAMS_MAX]);

// SAFETY: words without padding or pointers.
unsafe impl DeviceRepr for Params {}

/// The reason why no search over CUDA is possible, and its cure.
pub(crate) fn lack() -> Option<String> {
    let lack = "the driver's library (libcuda.so.1, nvcuda.dll) was not found: install NVIDIA's driver, or start the \
                container with its devices (docker run --gpus all)";
    // SAFETY: the function opens libraries that belong to CUDA by their names.
    if !unsafe { sys::is_culib_present() } {
        return Some(lack.to_owned());
    }
    match catch_unwind(CudaContext::device_count) {
        Ok(Ok(0)) => Some("the driver has no device: start the container with them (docker run --gpus all)".to_owned()),
        Ok(Ok(_)) => lack_of_compiler(),
        Ok(Err(error)) => Some(format!("the driver does not start: {}", words_of(error))),
        Err(_) => Some("the driver's library lacks a function: install a newer driver".to_owned()),
    }
}

fn lack_of_compiler() -> Option<String> {
    let lack = "NVIDIA's compiler (libnvrtc.so, .so.11 to .so.13) was not found: install CUDA's package cuda-nvrtc, or \
                nvidia-cuda-nvrtc by pip, and name its folder in LD_LIBRARY_PATH";
    // SAFETY: as above.
    (!unsafe { nvrtc::sys::is_culib_present() }).then(|| lack.to_owned())
}

/// The devices, with their numbers; none if the driver is missing or fails.
pub(crate) fn adapters() -> Vec<(Adapter, i32)> {
    // SAFETY: as in `lack`.
    if !unsafe { sys::is_culib_present() } {
        return Vec::new();
    }
    let all = || (0..CudaContext::device_count().ok()?).map(described).collect::<Result<_, _>>().ok();
    catch_unwind(all).ok().flatten().unwrap_or_default()
}

fn described(number: i32) -> Result<(Adapter, i32), DriverError> {
    let device = driver::result::device::get(number)?;
    let mut version = 0;
    let integrated = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_INTEGRATED;
    // SAFETY: the driver has given the device; the version's place is valid.
    let is_integrated = unsafe {
        sys::cuDriverGetVersion(&raw mut version).result()?;
        driver::result::device::get_attribute(device, integrated)? != 0
    };
    let adapter = Adapter {
        name: driver::result::device::get_name(device)?,
        kind: if is_integrated { "integrated GPU" } else { "discrete GPU" },
        interface: "cuda".to_owned(),
        driver: format!("CUDA {}.{}", version / 1000, version % 1000 / 10),
    };
    Ok((adapter, number))
}

/// An open device.
pub(crate) struct Cuda {
    context: Arc<CudaContext>,
}

impl Cuda {
    pub fn open(adapter: &Adapter, number: i32) -> Result<Self, Error> {
        if let Some(lack) = lack_of_compiler() {
            return Err(Error::NoCuda { lack });
        }
        let refused = |reason| Error::Refused { device: adapter.name.clone(), reason };
        let opened = catch_unwind(|| {
            let context = CudaContext::new(number as usize)?;
            // A thread that waits leaves its CPU to others.
            context.set_blocking_synchronize()?;
            Ok(context)
        });
        match opened {
            Ok(Ok(context)) => Ok(Cuda { context }),
            Ok(Err(error)) => Err(refused(words_of(error))),
            Err(_) => Err(refused("the driver's library lacks a function: install a newer driver".to_owned())),
        }
    }
}

/// A search's kernel with its table.
pub(crate) struct OverCuda<'d> {
    device: &'d Device,
    context: &'d Arc<CudaContext>,
    kernel: CudaFunction,
    table: CudaSlice<u32>,
    tail: CudaSlice<u32>,
    places: Vec<Place>,
    free: Vec<usize>,
}

struct Place {
    /// Calls in different streams need not wait for each other.
    stream: Arc<CudaStream>,
    results: CudaSlice<u32>,
    ended: Option<CudaEvent>,
}

impl<'d> OverCuda<'d> {
    pub fn new(device: &'d Device, cuda: &'d Cuda, plan: &Plan<'_>) -> Result<Self, Error> {
        let context = &cuda.context;
        let text = plan.cuda();
        let text = with_fault(text, device.wrong, "const uint32_t top = ", "(params.count > 100u ? 1u : 0u) ^ ");
        let refused = |reason| Error::Refused { device: device.adapter().name.clone(), reason };
        let ptx = nvrtc::compile_ptx_with_opts(text, CompileOptions::default());
        let ptx = ptx.map_err(|error| refused(format!("NVRTC: {}", words_of_compiler(&error))))?;
        let filled = || {
            let module = context.load_module(ptx)?;
            let stream = context.new_stream()?;
            let (table, tail) = (plan.table(), if plan.tail.is_empty() { &[0][..] } else { &plan.tail });
            let (table, tail) = (stream.clone_htod(&table)?, stream.clone_htod(tail)?);
            stream.synchronize()?;
            Ok((module.load_function("search")?, table, tail))
        };
        let (kernel, table, tail) = filled().map_err(|error| refused(words_of(error)))?;
        Ok(OverCuda { device, context, kernel, table, tail, places: Vec::new(), free: Vec::new() })
    }

    fn place(&mut self) -> Result<usize, DriverError> {
        if let Some(at) = self.free.pop() {
            return Ok(at);
        }
        let stream = self.context.new_stream()?;
        let results = stream.alloc_zeros(NBACK + ROOM)?;
        self.places.push(Place { stream, results, ended: None });
        Ok(self.places.len() - 1)
    }

    fn launch(&mut self, params: &Params, ngroups: u32) -> Result<usize, DriverError> {
        let at = self.place()?;
        let Place { stream, results, ended } = &mut self.places[at];
        stream.memset_zeros(&mut results.slice_mut(..NBACK))?;
        let config = LaunchConfig { grid_dim: (ngroups, 1, 1), block_dim: (GROUP as u32, 1, 1), shared_mem_bytes: 0 };
        let mut launch = stream.launch_builder(&self.kernel);
        launch.arg(params).arg(&self.table).arg(&mut *results).arg(&self.tail);
        // SAFETY: the types and their order are those of the kernel that `Plan::cuda` writes. It reads the table and
        // the tail below NTABLE and NTAIL, their lengths, and writes the results below NBACK + ROOM.
        unsafe { launch.launch(config)? };
        *ended = Some(stream.record_event(None)?);
        Ok(at)
    }

    /// The device takes no further work after an error of the driver.
    fn lost(&self, error: DriverError) -> Error {
        let (device, reason) = (self.device.adapter().name.clone(), words_of(error));
        self.device.fail(match error.0 {
            sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => Error::Refused { device, reason },
            _ => Error::Lost { device, reason },
        })
    }

    /// Waits until the last call in a place has ended.
    fn wait(&self, place: usize) -> Result<(), Error> {
        let Some(event) = &self.places[place].ended else { return Ok(()) };
        let begun = Instant::now();
        while !event.try_is_complete().map_err(|error| self.lost(error))? {
            self.device.check()?;
            if begun.elapsed() > PATIENCE {
                return Err(self.device.lost("it does not answer"));
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        Ok(())
    }

    fn words(&self, place: usize, from: usize, words: &mut [u32]) -> Result<(), DriverError> {
        let Place { stream, results, .. } = &self.places[place];
        stream.memcpy_dtoh(&results.slice(from..from + words.len()), words)?;
        stream.synchronize()
    }
}

impl Calls for OverCuda<'_> {
    fn begin(&mut self, params: &[u32], ngroups: u32) -> Result<usize, Error> {
        self.device.check()?;
        let mut room = Params([0; NPARAMS_MAX]);
        let Some(words) = room.0.get_mut(..params.len()) else {
            let lack = format!("{} words of parameters, at most {NPARAMS_MAX} are possible", params.len());
            return Err(Error::TooSmall { device: self.device.adapter().name.clone(), lack });
        };
        words.copy_from_slice(params);
        self.launch(&room, ngroups).map_err(|error| self.lost(error))
    }

    fn end(&mut self, place: usize) -> Result<[u32; NBACK], Error> {
        self.wait(place)?;
        let mut back = [0; NBACK];
        self.words(place, 0, &mut back).map_err(|error| self.lost(error))?;
        Ok(back)
    }

    fn noted(&mut self, place: usize, count: usize) -> Result<Vec<u32>, Error> {
        let mut words = vec![0; count];
        self.words(place, NBACK, &mut words).map_err(|error| self.lost(error))?;
        Ok(words)
    }

    fn leave(&mut self, place: usize) {
        self.free.push(place);
    }
}

/// The driver's words. To ask for them may end in a panic too.
fn words_of(error: DriverError) -> String {
    let words = catch_unwind(|| error.error_string().ok().map(|text| text.to_string_lossy().into_owned()));
    let words = words.ok().flatten().unwrap_or_else(|| "an unknown error".to_owned());
    one_line(&format!("{words} ({})", error.0 as u32))
}

fn words_of_compiler(error: &CompileError) -> String {
    let words = match error {
        CompileError::CompileError { log, .. } => log.to_string_lossy().into_owned(),
        other => catch_unwind(AssertUnwindSafe(|| other.to_string())).unwrap_or_default(),
    };
    one_line(&words)
}
