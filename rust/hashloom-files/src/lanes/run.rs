// SPDX-License-Identifier: MIT OR Apache-2.0

//! The loop of a thread that hashes: take messages, read a chunk of each, hash all chunks side by side, settle.

use std::sync::{Mutex, Once};

use super::hashing::hash_round;
use super::{Lane, Message, Places};
use crate::read::readers::{Queue, Readers};
use crate::run::pool::Pool;
use crate::run::{join, lock};

/// Whoever has messages to hash, and wants their digests. All threads share it.
pub(crate) trait Client: Sync {
    type Message: Message;
    type Queue: Queue;

    /// The threads that read what is not in memory. They start when they have something to read.
    fn readers(&self) -> &Readers<Self::Queue>;

    /// The work of a reader, until the end.
    fn read(&self, pool: &Pool);

    /// Takes messages while there is room, and reads the first chunk of each.
    fn take(
        &self,
        own: &mut <Self::Message as Message>::Own,
        places: &mut Places,
        lanes: &mut Vec<Lane<Self::Message>>,
    );

    /// Called by a thread without lanes: waits for work, that is for a change since there were `nchanges`. False if
    /// there will be none.
    fn wait(&self, nchanges: u64, lanes: &mut Vec<Lane<Self::Message>>) -> bool;

    /// Called after each round, in which `nbytes` bytes were hashed: takes the lanes at their end out of `ended`. Other
    /// `lanes` may go to threads without work.
    fn settle(&self, nbytes: u64, ended: &mut Vec<Lane<Self::Message>>, lanes: &mut Vec<Lane<Self::Message>>);

    /// Fails all messages: without memory for buffers nothing can be read.
    fn fail(&self);
}

/// Hashes all messages of a client, with `nplaces` places of `chunk_nbytes` bytes for each thread. Returns when all is
/// done or the pool was stopped.
pub(crate) fn run<C: Client>(client: &C, pool: &Pool, nplaces: usize, chunk_nbytes: usize) {
    if pool.is_alone() {
        client.readers().end(); // the thread that hashes reads
    }
    std::thread::scope(|scope| {
        let (readers, started) = (Mutex::new(Vec::new()), Once::new());
        let lock = || lock(&readers);
        let start = || started.call_once(|| lock().extend(client.readers().start(scope, || client.read(pool))));
        if !pool.work(|| Places::new(nplaces, chunk_nbytes), |places| work(client, pool, places, &start)) {
            client.fail();
        }
        client.readers().end();
        join(std::mem::take(&mut *lock()));
    });
}

fn work<C: Client>(client: &C, pool: &Pool, mut places: Places, start_readers: &impl Fn()) {
    let mut own = <C::Message as Message>::Own::default();
    let (mut lanes, mut ended, mut hashers) = (Vec::new(), Vec::new(), Vec::new());
    while !pool.must_stop() {
        places.clear(lanes.len() == 1);
        let nchanges = client.readers().nchanges();
        let stream = lanes.iter().position(Lane::is_stream);
        lanes.iter_mut().filter(|lane| !lane.is_stream()).for_each(|lane| lane.read(&mut own, &mut places, pool));
        if let Some(stream) = stream {
            if lanes.iter().all(|lane| lane.is_stream() || lane.is_waiting()) {
                places.idle();
            }
            lanes[stream].read(&mut own, &mut places, pool);
        }
        client.take(&mut own, &mut places, &mut lanes);
        if client.readers().is_used() {
            start_readers();
        }
        if lanes.is_empty() {
            if client.wait(nchanges, &mut lanes) { continue } else { break }
        }
        if lanes.iter().all(Lane::is_waiting) {
            client.readers().wait(nchanges);
            continue;
        }
        hash_round(&mut lanes, &places, &mut hashers);
        let nbytes = lanes.iter_mut().map(Lane::count).sum();
        client.readers().used(nbytes);
        take_ended(&mut lanes, &mut ended);
        client.settle(nbytes, &mut ended, &mut lanes);
    }
}

/// Moves the lanes at their end, in order, to `ended`, which is empty. In most rounds all are at their end, or none is.
fn take_ended<M: Message>(lanes: &mut Vec<Lane<M>>, ended: &mut Vec<Lane<M>>) {
    let nended = lanes.iter().filter(|lane| lane.has_ended()).count();
    if nended == lanes.len() {
        std::mem::swap(lanes, ended);
    } else if nended > 0 {
        (*ended, *lanes) = lanes.drain(..).partition(Lane::has_ended);
    }
}
