// SPDX-License-Identifier: MIT OR Apache-2.0

//! Progress for tests: a callback that borrows what the test looks at.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Sender, channel};

use hashloom_files::run::{Options, Progress};

/// Does `work` with options whose progress `hear` gets. The options own their callback, so `hear` runs in a thread of
/// its own while the caller of the callback waits; a panic of `hear` goes on there.
pub fn heard<R>(options: &Options, hear: impl Fn(Progress) + Sync, work: impl FnOnce(&Options) -> R) -> R {
    let (calls, called) = channel::<(Progress, Sender<std::thread::Result<()>>)>();
    std::thread::scope(|scope| {
        let hear = &hear;
        scope.spawn(move || {
            for (progress, answer) in called {
                let _ = answer.send(catch_unwind(AssertUnwindSafe(|| hear(progress))));
            }
        });
        let options = options.clone().progress(move |progress| {
            let (answer, answered) = channel();
            calls.send((progress, answer)).unwrap();
            if let Err(payload) = answered.recv().unwrap() {
                resume_unwind(payload);
            }
        });
        work(&options)
    })
}
