// SPDX-License-Identifier: MIT OR Apache-2.0

//! A kernel by itself, without padding, queues or a choice. The only module with `unsafe`.

use std::ffi::CStr;

use hashloom::Algorithm;
use hashloom::kernels::Kernel;
use hashloom_sys as sys;

/// A cache line of states: a kernel takes states of this alignment.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[allow(dead_code, reason = "kernels read and write it")] [u8; 64]);

/// The state of one message in each lane of a kernel, laid out as the kernel takes them.
pub struct Bare {
    /// Available, and of the algorithm's body.
    kernel: &'static sys::hl_kernel,
    block_nbytes: usize,
    states: Vec<Line>,
}

impl Bare {
    /// All lanes begin with zeros: the time depends on no state. Panics unless the kernel is available and computes the
    /// algorithm.
    pub fn new(kernel: Kernel, algorithm: Algorithm) -> Bare {
        // SAFETY: kernels and descriptions that are not NULL are static and never written.
        let mut all = (0..sys::hl_kernel_count()).filter_map(|index| unsafe { sys::hl_kernel_at(index).as_ref() });
        // SAFETY: names are static and NUL-terminated.
        let is_it =
            |found: &&sys::hl_kernel| unsafe { CStr::from_ptr(found.name) }.to_bytes() == kernel.name().as_bytes();
        let found = all.find(is_it).expect("a kernel of the table");
        // SAFETY: as above.
        let info = unsafe { sys::hl_alg_find(algorithm as sys::hl_alg).as_ref() }.expect("an algorithm of the table");
        assert_eq!(found.body, info.body);
        assert_ne!(found.isas & sys::hl_isas_available(), 0);
        let nbytes = (info.nwords * info.word_nbytes * found.nlanes) as usize;
        let states = vec![Line([0; 64]); nbytes.div_ceil(64)];
        Bare { kernel: found, block_nbytes: algorithm.block_nbytes(), states }
    }

    /// Advances each lane by its blocks, in one call of the kernel. Panics unless all lanes get equally many whole
    /// blocks, at least one.
    pub fn advance(&mut self, blocks: &[&[u8]]) {
        assert_eq!(blocks.len(), self.kernel.nlanes as usize);
        let nbytes = blocks[0].len();
        assert!(nbytes > 0 && nbytes % self.block_nbytes == 0 && blocks.iter().all(|lane| lane.len() == nbytes));
        let mut lanes = [std::ptr::null(); sys::HL_LANES_MAX];
        lanes.iter_mut().zip(blocks).for_each(|(lane, blocks)| *lane = blocks.as_ptr());
        let (nblocks, block_nbytes) = (nbytes / self.block_nbytes, self.block_nbytes as u32);
        // SAFETY: the machine can run the kernel, and there is a state of its body for each lane, both seen to in
        // `new`; as many pointers, each to nblocks blocks, asserted above.
        unsafe { (self.kernel.blocks)(self.states.as_mut_ptr().cast(), lanes.as_ptr(), nblocks, block_nbytes) };
    }
}

#[cfg(test)]
mod tests {
    use hashloom::kernels::kernels;

    use super::*;

    /// The states after two blocks, the same in each lane, in one call or in two.
    fn after(kernel: Kernel, algorithm: Algorithm, ncalls: usize) -> Vec<u8> {
        let bytes: Vec<u8> = (0..2 * algorithm.block_nbytes()).map(|i| i as u8).collect();
        let mut bare = Bare::new(kernel, algorithm);
        for part in bytes.chunks(bytes.len() / ncalls) {
            bare.advance(&vec![part; kernel.lanes()]);
        }
        bare.states.iter().flat_map(|line| line.0).collect()
    }

    #[test]
    fn all_kernels_of_an_algorithm_come_to_one_state_in_all_lanes() {
        for &algorithm in Algorithm::ALL {
            let all = kernels().filter(|kernel| kernel.is_available() && kernel.computes(algorithm));
            // SAFETY: a description that is not NULL is static and never written.
            let info = unsafe { sys::hl_alg_find(algorithm as sys::hl_alg).as_ref() }.unwrap();
            let (word, nwords) = (info.word_nbytes as usize, info.nwords as usize);
            let mut expected: Option<Vec<u8>> = None;
            for kernel in all {
                let states = after(kernel, algorithm, 2);
                assert_eq!(states, after(kernel, algorithm, 1), "{kernel}");
                for lane in 0..kernel.lanes() {
                    let words = (0..nwords).flat_map(|i| &states[(i * kernel.lanes() + lane) * word..][..word]);
                    let found: Vec<u8> = words.copied().collect();
                    assert_eq!(&found, expected.get_or_insert_with(|| found.clone()), "{kernel}, lane {lane}");
                }
            }
        }
    }
}
