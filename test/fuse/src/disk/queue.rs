//! The queue before a device, and the threads that answer in time. SPDX-License-Identifier: MIT OR Apache-2.0

use super::model::{Device, Model, Times};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

/// Requests that arrive within this time of each other are in the order of their places, not of their arrival, if the
/// arm must move anyway: several threads bring them.
const TOGETHER: u64 = 50_000;
/// A request that is older goes first, as in Linux's mq-deadline.
const PATIENCE: u64 = 500_000_000;
/// The answer is sent by this rate: sending starts so much earlier. Measured on a Zen 4 at 3.7 GHz.
const SENT_NBYTES_PER_MICROSECOND: u64 = 8_000;
const NTHREADS: usize = 4;

/// A part of a file on the device.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub file: usize,
    pub position: u64,
    pub nbytes: u64,
}

struct Request {
    arrived: u64,
    /// `None` if the device is not asked for this request.
    place: Option<Place>,
    answer: Box<dyn FnOnce() + Send>,
}

/// A request that was served.
#[derive(Clone, Copy, Debug)]
pub struct Served {
    pub arrived: u64,
    pub place: Place,
    pub times: Times,
}

struct State {
    waiting: VecDeque<Request>,
    device: Device,
    served: Vec<Served>,
    late: Vec<u64>,
}

pub struct Queue {
    model: Model,
    span: u64,
    state: Mutex<State>,
    arrival: Condvar,
}

/// The monotonic clock, in nanoseconds.
pub fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure outlives the call.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn sleep_until(nanoseconds: u64) {
    let (seconds, rest) = (nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000);
    let time = libc::timespec { tv_sec: seconds as i64, tv_nsec: rest as i64 };
    // SAFETY: the structure outlives the call.
    while unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &time, std::ptr::null_mut()) }
        == libc::EINTR
    {}
}

impl Queue {
    pub fn new(model: Model, span: u64) -> Arc<Queue> {
        let state =
            State { waiting: VecDeque::new(), device: Device::new(model, span), served: Vec::new(), late: Vec::new() };
        let queue = Arc::new(Queue { model, span, state: Mutex::new(state), arrival: Condvar::new() });
        // One thread, as the choice of the next request must wait for the end of the last.
        for _ in 0..if model.has_arm() { 1 } else { NTHREADS } {
            let queue = queue.clone();
            std::thread::spawn(move || queue.work());
        }
        queue
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no thread panics while it holds the queue")
    }

    /// Answers as soon as the device has the bytes of a place, or, without a place, after a call of the file system.
    pub fn add(&self, place: Option<Place>, answer: impl FnOnce() + Send + 'static) {
        if place.is_none() && self.model.call == 0 {
            return answer();
        }
        let request = Request { arrived: now(), place, answer: Box::new(answer) };
        self.lock().waiting.push_back(request);
        self.arrival.notify_one();
    }

    /// Forgets what was served, and moves the head to the beginning.
    pub fn reset(&self) {
        let mut state = self.lock();
        state.device = Device::new(self.model, self.span);
        state.served.clear();
        state.late.clear();
    }

    pub fn served(&self) -> Vec<Served> {
        self.lock().served.clone()
    }

    /// How much later than the model says answers were sent, sorted, in nanoseconds.
    pub fn late(&self) -> Vec<u64> {
        let mut late = self.lock().late.clone();
        late.sort_unstable();
        late
    }

    fn work(&self) {
        loop {
            let (request, done) = self.next();
            let nbytes = request.place.map_or(0, |place| place.nbytes);
            sleep_until(done - nbytes * 1000 / SENT_NBYTES_PER_MICROSECOND);
            (request.answer)();
            let late = now().saturating_sub(done);
            self.lock().late.push(late);
        }
    }

    /// Waits for a request, and returns the one to serve next, with the time of its end.
    fn next(&self) -> (Request, u64) {
        let mut state = self.lock();
        loop {
            while state.waiting.is_empty() {
                state = self.arrival.wait(state).expect("no thread panics while it holds the queue");
            }
            let index = if self.model.has_arm() { next_by_place(&state, now()) } else { Ok(0) };
            match index {
                Ok(index) => {
                    let request = state.waiting.remove(index).expect("is one of those that wait");
                    let Some(place) = request.place else {
                        let done = request.arrived + self.model.call;
                        return (request, done);
                    };
                    let times = state.device.serve(request.arrived, place.position, place.nbytes);
                    state.served.push(Served { arrived: request.arrived, place, times });
                    return (request, times.done);
                }
                Err(later) => {
                    drop(state);
                    sleep_until(later);
                    state = self.lock();
                }
            }
        }
    }
}

/// Returns the index of the request that the elevator comes to next, or the time from which the choice is possible.
fn next_by_place(state: &State, now: u64) -> Result<usize, u64> {
    let oldest = &state.waiting[0];
    if now > oldest.arrived + PATIENCE {
        return Ok(0);
    }
    let order = |index: &usize| {
        let request = &state.waiting[*index];
        let place = request.place.expect("a hard disk has no calls");
        state.device.order(request.arrived, place.position, place.nbytes)
    };
    let first = (0..state.waiting.len()).min_by_key(|index| order(index).0).expect("a request waits");
    if order(&first).1 && now < oldest.arrived + TOGETHER {
        return Err(oldest.arrived + TOGETHER);
    }
    Ok(first)
}

/// Makes the calling thread, and those that it starts, wake up in time: they work ahead of all programs, as a device's
/// electronics would. If the system forbids it, answers are later.
pub fn be_precise() {
    let parameters = libc::sched_param { sched_priority: 1 };
    // SAFETY: the structure outlives the call.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1);
        libc::sched_setscheduler(0, libc::SCHED_FIFO, &parameters);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_arrive_together_are_served_in_the_order_of_their_places() {
        let mut state = State {
            waiting: VecDeque::new(),
            device: Device::new(Model::named("hdd", 1).unwrap(), 1 << 30),
            served: Vec::new(),
            late: Vec::new(),
        };
        for (arrived, block) in [3, 1, 0, 2, 4].into_iter().enumerate() {
            let place = Place { file: 0, position: (1 << 29) + block * 131_072, nbytes: 131_072 };
            state.waiting.push_back(Request { arrived: arrived as u64, place: Some(place), answer: Box::new(|| ()) });
        }
        // Others may come, as the arm must move anyway.
        assert_eq!(next_by_place(&state, 10), Err(TOGETHER));
        let (mut order, mut moves) = (Vec::new(), 0);
        while !state.waiting.is_empty() {
            let index = next_by_place(&state, TOGETHER).unwrap();
            let request = state.waiting.remove(index).unwrap();
            let place = request.place.unwrap();
            moves += u8::from(state.device.serve(request.arrived, place.position, place.nbytes).moved);
            order.push((place.position - (1 << 29)) / 131_072);
        }
        assert_eq!((order, moves), (vec![0, 1, 2, 3, 4], 1));
    }
}
