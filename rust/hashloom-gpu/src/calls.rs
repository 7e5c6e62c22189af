// SPDX-License-Identifier: MIT OR Apache-2.0
//! The calls of a search's shader: what a search needs of a device, and how wgpu does it. `cuda.rs` is the other way.

use crate::device::{Backend, Device, Fault, Mapped, Wgpu, map, with_wrong_constant};
use crate::error::Error;
use crate::plan::{NSAMPLES, Plan, ROOM};

/// Words that come back from each call: the number of noted nonces, and the samples. The nonces follow in the buffer.
pub(crate) const NBACK: usize = 1 + NSAMPLES;

/// A compiled shader with its table. Several calls may be on their way, each in a place of its own.
pub(crate) trait Calls {
    /// Begins a call with these parameters, and returns its place.
    fn begin(&mut self, params: &[u32], ngroups: u32) -> Result<usize, Error>;
    /// Waits for a call. Returns the number of nonces that it noted, and the samples.
    fn end(&mut self, place: usize) -> Result<[u32; NBACK], Error>;
    /// Returns the first `count` nonces that an ended call noted.
    fn noted(&mut self, place: usize, count: usize) -> Result<Vec<u32>, Error>;
    /// Leaves the place of an ended call to a later one.
    fn leave(&mut self, place: usize);
}

/// Compiles the shader of a search for the device.
pub(crate) fn calls<'d>(device: &'d Device, plan: &Plan<'_>) -> Result<Box<dyn Calls + 'd>, Error> {
    match &device.backend {
        Backend::Wgpu(wgpu) => Ok(Box::new(OverWgpu::new(device, wgpu, plan)?)),
        #[cfg(feature = "cuda")]
        Backend::Cuda(cuda) => Ok(Box::new(crate::cuda::OverCuda::new(device, cuda, plan)?)),
    }
}

/// The text with a fault, for tests. `top` declares the variable of this name, up to its value.
pub(crate) fn with_fault(text: String, fault: Fault, top: &str, wrong_top: &str) -> String {
    match fault {
        Fault::None => text,
        Fault::Constant => with_wrong_constant(&text),
        // The self-test has smaller calls.
        Fault::LargeCalls => text.replace(top, &format!("{top}{wrong_top}")),
    }
}

struct OverWgpu<'d> {
    device: &'d Device,
    wgpu: &'d Wgpu,
    pipeline: wgpu::ComputePipeline,
    table: wgpu::Buffer,
    tail: Option<wgpu::Buffer>,
    /// Noted nonces on their way back.
    list: Option<wgpu::Buffer>,
    places: Vec<Place>,
    free: Vec<usize>,
}

struct Place {
    params: wgpu::Buffer,
    results: wgpu::Buffer,
    readback: wgpu::Buffer,
    read: Option<(Mapped, wgpu::SubmissionIndex)>,
}

impl<'d> OverWgpu<'d> {
    fn new(device: &'d Device, wgpu: &'d Wgpu, plan: &Plan<'_>) -> Result<Self, Error> {
        let text = plan.wgsl(wgpu.language);
        let text = with_fault(text, device.wrong, "let top = ", "select(0u, 1u, params.count > 100u) ^ ");
        let filled = |words: &[u32]| {
            let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
            let buffer = buffer(wgpu, words.len(), usage);
            wgpu.queue.write_buffer(&buffer, 0, &bytes_of(words));
            buffer
        };
        let calls = OverWgpu {
            device,
            wgpu,
            pipeline: wgpu.pipeline(&text),
            table: filled(&plan.table()),
            tail: (!plan.tail.is_empty()).then(|| filled(&plan.tail)),
            list: None,
            places: Vec::new(),
            free: Vec::new(),
        };
        device.check()?;
        Ok(calls)
    }

    fn place(&mut self, nparams: usize) -> usize {
        use wgpu::BufferUsages as Usages;
        self.free.pop().unwrap_or_else(|| {
            self.places.push(Place {
                params: buffer(self.wgpu, nparams, Usages::UNIFORM | Usages::COPY_DST),
                results: buffer(self.wgpu, NBACK + ROOM, Usages::STORAGE | Usages::COPY_DST | Usages::COPY_SRC),
                readback: buffer(self.wgpu, NBACK, Usages::MAP_READ | Usages::COPY_DST),
                read: None,
            });
            self.places.len() - 1
        })
    }
}

impl Calls for OverWgpu<'_> {
    fn begin(&mut self, params: &[u32], ngroups: u32) -> Result<usize, Error> {
        let at = self.place(params.len());
        let Place { params: in_params, results, readback, read } = &mut self.places[at];
        self.wgpu.queue.write_buffer(in_params, 0, &bytes_of(params));
        let bound = [&*in_params, &self.table, &*results].into_iter().chain(&self.tail);
        let entries: Vec<_> = (0..)
            .zip(bound)
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        let bind_group = self.wgpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &self.pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        let mut encoder = self.wgpu.device.create_command_encoder(&Default::default());
        encoder.clear_buffer(results, 0, Some(4 * NBACK as u64));
        {
            let mut compute = encoder.begin_compute_pass(&Default::default());
            compute.set_pipeline(&self.pipeline);
            compute.set_bind_group(0, &bind_group, &[]);
            compute.dispatch_workgroups(ngroups, 1, 1);
        }
        encoder.copy_buffer_to_buffer(results, 0, readback, 0, 4 * NBACK as u64);
        let submission = self.wgpu.queue.submit([encoder.finish()]);
        *read = Some((map(readback), submission));
        Ok(at)
    }

    fn end(&mut self, place: usize) -> Result<[u32; NBACK], Error> {
        let Place { readback, read, .. } = &mut self.places[place];
        if let Some((mapped, submission)) = read.take() {
            self.device.wait(self.wgpu, &mapped, &submission)?;
        }
        let mut back = [0; NBACK];
        back.copy_from_slice(&words_of(readback));
        Ok(back)
    }

    fn noted(&mut self, place: usize, count: usize) -> Result<Vec<u32>, Error> {
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let list = self.list.get_or_insert_with(|| buffer(self.wgpu, ROOM, usage));
        let mut encoder = self.wgpu.device.create_command_encoder(&Default::default());
        let results = &self.places[place].results;
        encoder.copy_buffer_to_buffer(results, 4 * NBACK as u64, list, 0, 4 * count as u64);
        let submission = self.wgpu.queue.submit([encoder.finish()]);
        self.device.wait(self.wgpu, &map(list), &submission)?;
        let mut words = words_of(list);
        words.truncate(count);
        Ok(words)
    }

    fn leave(&mut self, place: usize) {
        self.free.push(place);
    }
}

/// A buffer of this number of words.
fn buffer(wgpu: &Wgpu, nwords: usize, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    let size = 4 * nwords as u64;
    wgpu.device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
}

fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// The words of a mapped buffer, which is mapped no longer.
fn words_of(buffer: &wgpu::Buffer) -> Vec<u32> {
    let view = buffer.slice(..).get_mapped_range();
    let words = view.chunks_exact(4).map(|word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]])).collect();
    drop(view);
    buffer.unmap();
    words
}
