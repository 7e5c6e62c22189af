// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages on their way through a device: chunks of blocks go to it, states stay there, digests come back.

use std::collections::VecDeque;

use crate::device::{Device, Mapped, Wgpu, lock, map};
use crate::error::Error;
use crate::hash::Messages;
use crate::shader::{Body, NSTATE_MAX};

/// Chunks on their way at once: one is written, one is copied to the device, one is hashed.
const NSLOTS: usize = 3;

/// Blocks of one message that a call of the shader hashes at most. Systems end a call that takes seconds.
const NBLOCKS_MAX: u64 = 4096;

/// Bytes of one message in a chunk, if there are enough messages: fewer would be read from too many places.
pub(crate) const STEP_NBYTES: usize = 4096;

/// Invocations of a workgroup.
const GROUP: usize = 64;

/// Workgroups in one call.
const NGROUPS_MAX: usize = 65_535;

/// Words of `Params` in `blocks.wgsl`, at most.
const NPARAMS: usize = 8 + NSTATE_MAX.next_multiple_of(4);

/// A buffer that the CPU writes, and its counterpart on the device.
pub(crate) struct Slot {
    nbytes: usize,
    staging: wgpu::Buffer,
    params: wgpu::Buffer,
    data: wgpu::Buffer,
    /// Tells that the device has read `staging`; `None` if it is mapped.
    read: Option<(Mapped, wgpu::SubmissionIndex)>,
}

/// States on the device.
pub(crate) struct States {
    buffer: wgpu::Buffer,
    nlanes: usize,
    begin: Vec<u32>,
}

/// States on their way back.
pub(crate) struct Results {
    buffer: wgpu::Buffer,
    nlanes: usize,
    read: (Mapped, wgpu::SubmissionIndex),
}

/// One call's use of a device.
pub(crate) struct Pass<'d> {
    device: &'d Device,
    wgpu: &'d Wgpu,
    body: &'static Body,
    flying: VecDeque<Slot>,
}

impl<'d> Pass<'d> {
    pub fn new(device: &'d Device, body: &'static Body) -> Result<Self, Error> {
        Ok(Pass { device, wgpu: device.wgpu()?, body, flying: VecDeque::new() })
    }

    /// The most lanes that one buffer of states has room for.
    pub fn nlanes_max(&self) -> usize {
        self.wgpu.binding_nbytes / (4 * self.body.nstate)
    }

    /// Lanes whose messages of `nblocks` blocks fill a chunk.
    pub fn nlanes_of_chunk(&self, nblocks: u64) -> usize {
        let step = (self.body.block_nbytes() as u64 * nblocks).min(STEP_NBYTES as u64) as usize;
        (self.room() / (8 + step)).clamp(1, self.nlanes_max().min(GROUP * NGROUPS_MAX))
    }

    /// Bytes of a chunk without its parameters.
    fn room(&self) -> usize {
        self.wgpu.chunk_nbytes - 4 * NPARAMS
    }

    pub fn states(&self, nlanes: usize, begin: &[u32]) -> States {
        let buffer = self.wgpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: (4 * self.body.nstate * nlanes.max(1)) as u64,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        States { buffer, nlanes, begin: begin.to_vec() }
    }

    /// Hashes the messages of all lanes. Lanes with equally many blocks should be neighbours.
    pub fn hash(&mut self, states: &States, messages: &Messages<'_, '_>) -> Result<(), Error> {
        let most = (self.room() / (8 + self.body.block_nbytes())).min(GROUP * NGROUPS_MAX);
        for first in (0..states.nlanes).step_by(most) {
            self.hash_lanes(states, first, most.min(states.nlanes - first), messages)?;
        }
        Ok(())
    }

    fn hash_lanes(
        &mut self,
        states: &States,
        first: usize,
        n: usize,
        messages: &Messages<'_, '_>,
    ) -> Result<(), Error> {
        let block = self.body.block_nbytes();
        let lefts: Vec<u64> = (first..first + n).map(|lane| messages.nblocks(lane)).collect();
        let mut done = vec![0_u64; n];
        let mut is_first = true;
        loop {
            // Lanes behind the last one that has blocks left take no part.
            let active = (0..n).rev().find(|&i| done[i] < lefts[i]).map_or(0, |i| i + 1);
            let count = if is_first { n } else { active };
            if count == 0 {
                return Ok(());
            }
            let most = ((self.room() - 8 * count) / (block * active.max(1))) as u64;
            let parts: Vec<u64> = (0..count).map(|i| (lefts[i] - done[i]).min(most.clamp(1, NBLOCKS_MAX))).collect();
            let nblocks: u64 = parts.iter().sum();
            let nbytes = 4 * NPARAMS + 8 * count + nblocks as usize * block;
            let slot = self.slot(nbytes)?;
            {
                let mut view = slot.staging.slice(..nbytes as u64).get_mapped_range_mut();
                let (params, rest) = view.split_at_mut(4 * NPARAMS);
                let (spans, mut data) = rest.split_at_mut(8 * count);
                let longest = parts.iter().copied().max().unwrap_or(0);
                let head = [first as u32, count as u32, longest as u32, states.nlanes as u32, u32::from(is_first)];
                let data_at = (2 * count) as u32;
                let words = head.into_iter().chain([data_at, 0, 0]).chain(states.begin.iter().copied());
                put(params, words);
                let mut at = 0;
                put(
                    spans,
                    parts.iter().flat_map(|&part| {
                        let span = [at as u32, part as u32];
                        at += part as usize * self.body.nwords;
                        span
                    }),
                );
                for (i, &part) in parts.iter().enumerate() {
                    let (here, later) = data.split_at_mut(part as usize * block);
                    messages.copy(first + i, done[i], here);
                    data = later;
                    done[i] += part;
                }
            }
            self.submit(slot, nbytes, count, states);
            is_first = false;
        }
    }

    /// Returns a slot whose staging buffer is mapped.
    fn slot(&mut self, nbytes: usize) -> Result<Slot, Error> {
        if self.flying.len() >= NSLOTS {
            if let Some(mut slot) = self.flying.pop_front() {
                if let Some((mapped, submission)) = slot.read.take() {
                    self.device.wait(self.wgpu, &mapped, &submission)?;
                }
                if slot.nbytes >= nbytes {
                    return Ok(slot);
                }
            }
        }
        let mut spare = lock(&self.wgpu.spare);
        if let Some(at) = spare.iter().position(|slot| slot.nbytes >= nbytes) {
            return Ok(spare.swap_remove(at));
        }
        drop(spare);
        let nbytes = nbytes.next_power_of_two().clamp(64 << 10, self.wgpu.chunk_nbytes);
        let buffer = |size: usize, usage, mapped_at_creation| {
            let size = size as u64;
            self.wgpu.device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation })
        };
        let slot = Slot {
            nbytes,
            staging: buffer(nbytes, wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC, true),
            params: buffer(4 * NPARAMS, wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST, false),
            data: buffer(nbytes, wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST, false),
            read: None,
        };
        // A buffer that was not made cannot be written to.
        self.device.check()?;
        Ok(slot)
    }

    fn submit(&mut self, mut slot: Slot, nbytes: usize, nlanes: usize, states: &States) {
        slot.staging.unmap();
        let pipeline = self.wgpu.blocks_pipeline(self.body, self.device.wrong);
        let mut encoder = self.wgpu.device.create_command_encoder(&Default::default());
        let (nparams, ndata) = (4 * NPARAMS as u64, (nbytes - 4 * NPARAMS) as u64);
        encoder.copy_buffer_to_buffer(&slot.staging, 0, &slot.params, 0, nparams);
        encoder.copy_buffer_to_buffer(&slot.staging, nparams, &slot.data, 0, ndata);
        let entries = [&slot.params, &slot.data, &states.buffer];
        let entries =
            [0, 1, 2].map(|i| wgpu::BindGroupEntry { binding: i, resource: entries[i as usize].as_entire_binding() });
        let bind_group = self.wgpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        {
            let mut compute = encoder.begin_compute_pass(&Default::default());
            compute.set_pipeline(pipeline);
            compute.set_bind_group(0, &bind_group, &[]);
            compute.dispatch_workgroups(nlanes.div_ceil(GROUP) as u32, 1, 1);
        }
        let submission = self.wgpu.queue.submit([encoder.finish()]);
        slot.read = Some((map(&slot.staging, wgpu::MapMode::Write), submission));
        self.flying.push_back(slot);
    }

    /// Asks for the states.
    pub fn fetch(&self, states: &States) -> Results {
        let nbytes = states.buffer.size();
        let buffer = self.wgpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: nbytes,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = self.wgpu.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(&states.buffer, 0, &buffer, 0, nbytes);
        let submission = self.wgpu.queue.submit([encoder.finish()]);
        Results { nlanes: states.nlanes, read: (map(&buffer, wgpu::MapMode::Read), submission), buffer }
    }

    /// Waits for the states, and calls `on` with each lane and its digest, cut to `nbytes`.
    pub fn digests(&self, results: Results, nbytes: usize, mut on: impl FnMut(usize, &[u8])) -> Result<(), Error> {
        self.device.wait(self.wgpu, &results.read.0, &results.read.1)?;
        let view = results.buffer.slice(..).get_mapped_range();
        let mut digest = [0; 64];
        for lane in 0..results.nlanes {
            for k in 0..nbytes.div_ceil(4) {
                let at = 4 * (k * results.nlanes + lane);
                let word = u32::from_ne_bytes([view[at], view[at + 1], view[at + 2], view[at + 3]]);
                digest[4 * k..][..4].copy_from_slice(&self.body.bytes(word));
            }
            on(lane, &digest[..nbytes]);
        }
        Ok(())
    }

    /// Leaves the buffers to later calls.
    pub fn finish(mut self) -> Result<(), Error> {
        while let Some(mut slot) = self.flying.pop_front() {
            if let Some((mapped, submission)) = slot.read.take() {
                self.device.wait(self.wgpu, &mapped, &submission)?;
            }
            let mut spare = lock(&self.wgpu.spare);
            if spare.len() < 2 * NSLOTS {
                spare.push(slot);
            }
        }
        Ok(())
    }
}

/// Writes words in the machine's byte order.
pub(crate) fn put(bytes: &mut [u8], words: impl Iterator<Item = u32>) {
    for (out, word) in bytes.chunks_exact_mut(4).zip(words) {
        out.copy_from_slice(&word.to_ne_bytes());
    }
}
