//! The devices: when a request would be done. SPDX-License-Identifier: MIT OR Apache-2.0
//!
//! Pure arithmetic on a virtual clock in nanoseconds. A late thread of the model never delays the clock.

/// A device as a data sheet has it.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    pub name: &'static str,
    /// From the arrival of a request to its first byte.
    latency: u64,
    nbytes_per_second: u64,
    /// Number of requests that are served at once.
    depth: usize,
    /// The time that a server takes for a look-up, an open and the like.
    pub call: u64,
    arm: Option<Arm>,
}

/// The moving parts of a hard disk.
#[derive(Clone, Copy, Debug)]
struct Arm {
    /// To the neighbouring track.
    shortest_seek: u64,
    /// Across a third of the disk, the mean of random places.
    mean_seek: u64,
    rotation: u64,
    /// The drive reads on into its buffer while it has nothing else to do, and sends from the buffer at this rate.
    buffer_nbytes: u64,
    buffer_nbytes_per_second: u64,
}

const MICROSECOND: u64 = 1000;
const MILLISECOND: u64 = 1000 * MICROSECOND;
const SECOND: u64 = 1000 * MILLISECOND;

pub const MODELS: [Model; 5] = [
    Model {
        name: "hdd",
        latency: 0,
        nbytes_per_second: 200_000_000,
        depth: 1,
        call: 0,
        arm: Some(Arm {
            shortest_seek: MILLISECOND,
            mean_seek: 8 * MILLISECOND,
            rotation: 60 * SECOND / 7200,
            buffer_nbytes: 8 << 20,
            buffer_nbytes_per_second: 550_000_000,
        }),
    },
    Model { name: "sata", latency: 100 * MICROSECOND, nbytes_per_second: 550_000_000, depth: 32, call: 0, arm: None },
    Model { name: "nvme", latency: 80 * MICROSECOND, nbytes_per_second: 7_000_000_000, depth: 32, call: 0, arm: None },
    Model {
        name: "nfs",
        latency: MILLISECOND,
        nbytes_per_second: 1_000_000_000,
        depth: 128,
        call: MILLISECOND,
        arm: None,
    },
    // No device: what the file system itself can do.
    Model { name: "none", latency: 0, nbytes_per_second: u64::MAX, depth: 1 << 16, call: 0, arm: None },
];

impl Model {
    pub fn named(name: &str, slower: u64) -> Option<Model> {
        let mut model = *MODELS.iter().find(|model| model.name == name)?;
        model.latency *= slower;
        model.nbytes_per_second /= slower;
        model.call *= slower;
        if let Some(arm) = &mut model.arm {
            arm.shortest_seek *= slower;
            arm.mean_seek *= slower;
            arm.rotation *= slower;
            arm.buffer_nbytes_per_second /= slower;
        }
        Some(model)
    }

    /// Returns true if requests are best served in another order than that of their arrival.
    pub fn has_arm(&self) -> bool {
        self.arm.is_some()
    }
}

fn transfer(nbytes: u64, nbytes_per_second: u64) -> u64 {
    (u128::from(nbytes) * u128::from(SECOND) / u128::from(nbytes_per_second)) as u64
}

/// The times of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    pub started: u64,
    pub done: u64,
    /// The arm moved, or the head waited for the disk to turn round.
    pub moved: bool,
}

/// A device at work.
#[derive(Debug)]
pub struct Device {
    model: Model,
    /// Length of the disk: its content.
    span: u64,
    /// When each of the requests that are served at once ends.
    slots: std::collections::BinaryHeap<std::cmp::Reverse<u64>>,
    /// When the last byte of the last request has come.
    free: u64,
    head: Head,
}

/// A hard disk's head. At `since` it was at `place`, and reads on, as far as the buffer has room.
#[derive(Clone, Copy, Debug)]
struct Head {
    place: u64,
    since: u64,
    /// The buffer has the bytes from here to the head.
    buffered_from: u64,
    /// The end of the last request.
    wanted_to: u64,
}

impl Device {
    pub fn new(model: Model, span: u64) -> Device {
        // Nothing is in the buffer: the first request moves the arm.
        let head = Head { place: 0, since: 0, buffered_from: u64::MAX, wanted_to: 0 };
        Device { model, span: span.max(1), slots: Default::default(), free: 0, head }
    }

    /// The order of requests in an elevator that goes one way, as Linux's mq-deadline: first what the head reads
    /// without a movement, then what lies ahead, then what lies behind, each from low places to high ones. Also
    /// returns whether the arm moves.
    pub fn order(&self, arrived: u64, position: u64, nbytes: u64) -> ((u8, u64), bool) {
        let moves = self.times(arrived, position, nbytes).moved;
        ((u8::from(moves) + u8::from(moves && position < self.head.wanted_to), position), moves)
    }

    /// The times of a request if it is served next.
    fn times(&self, arrived: u64, position: u64, nbytes: u64) -> Times {
        let rate = self.model.nbytes_per_second;
        let Some(arm) = self.model.arm else {
            let slot = match self.slots.peek() {
                Some(std::cmp::Reverse(end)) if self.slots.len() >= self.model.depth => *end,
                _ => 0,
            };
            let started = arrived.max(slot);
            let done = (started + self.model.latency).max(self.free) + transfer(nbytes, rate);
            return Times { started, done, moved: false };
        };
        let started = arrived.max(self.free);
        let place = self.head.place_at(started, &arm, rate);
        let end = position + nbytes;
        let moved = started + self.to(place, started, position, &arm) + transfer(nbytes, rate);
        // Bytes that lie a little ahead come soon by themselves.
        if position >= self.head.buffered_from {
            let sent = started + transfer(nbytes, arm.buffer_nbytes_per_second);
            let done = sent.max(started + transfer(end.saturating_sub(place), rate));
            if done <= moved {
                return Times { started, done, moved: false };
            }
        }
        Times { started, done: moved, moved: true }
    }

    /// Serves a request next.
    pub fn serve(&mut self, arrived: u64, position: u64, nbytes: u64) -> Times {
        let times = self.times(arrived, position, nbytes);
        self.free = times.done;
        let Some(arm) = self.model.arm else {
            if self.slots.len() >= self.model.depth {
                self.slots.pop();
            }
            self.slots.push(std::cmp::Reverse(times.done));
            return times;
        };
        let end = position + nbytes;
        if times.moved {
            self.head = Head { place: end, since: times.done, buffered_from: position, wanted_to: end };
        } else {
            // The head was idle if the buffer was full; from now on it has room again.
            let place = self.head.place_at(times.started, &arm, self.model.nbytes_per_second);
            let buffered_from = self.head.buffered_from.max(place.saturating_sub(arm.buffer_nbytes));
            let wanted_to = end.max(self.head.wanted_to);
            self.head = Head { place, since: times.started, buffered_from, wanted_to };
        }
        times
    }

    /// Time to get from one place to another: the way of the arm, and the turn of the disk.
    fn to(&self, from: u64, now: u64, position: u64, arm: &Arm) -> u64 {
        let distance = from.abs_diff(position) as f64;
        let share = (distance / (self.span as f64 / 3.0)).sqrt();
        let seek = arm.shortest_seek as f64 + (arm.mean_seek - arm.shortest_seek) as f64 * share;
        let rotation = arm.rotation as f64;
        let track = self.model.nbytes_per_second as f64 * rotation / SECOND as f64;
        // The disk has turned since the head was at its place.
        let arrives = (now - self.head.since) as f64 + seek;
        let turns = (position as f64 - self.head.place as f64) / track - arrives / rotation;
        (seek + (turns - turns.floor()) * rotation) as u64
    }
}

impl Head {
    fn place_at(&self, now: u64, arm: &Arm, nbytes_per_second: u64) -> u64 {
        let read = u128::from(now.saturating_sub(self.since)) * u128::from(nbytes_per_second) / u128::from(SECOND);
        let full = (self.wanted_to + arm.buffer_nbytes).max(self.place);
        (self.place + read.min(u128::from(u64::MAX >> 1)) as u64).min(full)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn device(name: &str) -> Device {
        Device::new(Model::named(name, 1).unwrap(), 1 << 30)
    }

    /// Bytes a second of requests one after the other, each `idle` nanoseconds after the end of the last.
    fn rate(device: &mut Device, nbytes: u64, idle: u64, mut place: impl FnMut(u64) -> u64) -> f64 {
        let (first, count) = (device.serve(0, place(0), nbytes).done, 400);
        let mut now = first + idle;
        for index in 1..=count {
            now = device.serve(now, place(index), nbytes).done + idle;
        }
        (count * nbytes) as f64 / (now - idle - first) as f64 * 1e3
    }

    #[test]
    fn a_hard_disk_is_as_fast_as_its_heads_move_little() {
        let in_order = rate(&mut device("hdd"), MIB / 8, 0, |index| index * MIB / 8);
        assert!((199.0..=200.1).contains(&in_order), "{in_order}");
        // The drive reads on while the program computes.
        let with_pauses = rate(&mut device("hdd"), MIB / 8, 300 * MICROSECOND, |index| index * MIB / 8);
        assert!((198.0..=201.0).contains(&with_pauses), "{with_pauses}");
        let backwards = rate(&mut device("hdd"), MIB / 8, 0, |index| (400 - index) * MIB / 8);
        assert!((10.0..=20.0).contains(&backwards), "{backwards}");
        let two_files = rate(&mut device("hdd"), MIB / 8, 0, |index| index % 2 * 512 * MIB + index / 2 * MIB / 8);
        assert!((6.0..=12.0).contains(&two_files), "{two_files}");
    }

    #[test]
    fn a_random_place_costs_a_seek_and_half_a_turn() {
        let mut device = device("hdd");
        let (mut now, mut place, count) = (0, 1_u64, 2000);
        for _ in 0..count {
            place = place.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            now = device.serve(now, (place >> 34) & !4095, 4096).done;
        }
        let mean = now / count;
        assert!((11 * MILLISECOND..13 * MILLISECOND).contains(&mean), "{mean}");
    }

    #[test]
    fn a_small_gap_is_read_over() {
        let mut device = device("hdd");
        let first = device.serve(0, 0, MIB);
        let second = device.serve(first.done, MIB + MIB / 16, MIB);
        assert!(!second.moved);
        assert_eq!(second.done - first.done, transfer(MIB + MIB / 16, 200_000_000));
    }

    #[test]
    fn other_devices_serve_many_requests_at_once() {
        for (name, one, many) in [("sata", 250.0, 550.0), ("nvme", 1270.0, 7000.0), ("nfs", 115.0, 1000.0)] {
            let alone = rate(&mut device(name), MIB / 8, 0, |index| index * MIB);
            assert!((one..=one * 1.6).contains(&alone), "{name}: {alone}");
            let mut device = device(name);
            let last = (0..4000).map(|index| device.serve(0, index * MIB, MIB / 8).done).last().unwrap();
            let together = 4000.0 * (MIB / 8) as f64 / last as f64 * 1e3;
            assert!((many * 0.98..=many).contains(&together), "{name}: {together}");
        }
        // 32 requests of 4 KiB in 80 microseconds.
        let mut device = device("nvme");
        let last = (0..3200).map(|index| device.serve(0, index * MIB, 4096).done).last().unwrap();
        assert!((8 * MILLISECOND..9 * MILLISECOND).contains(&last), "{last}");
    }
}
