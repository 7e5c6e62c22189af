// SPDX-License-Identifier: MIT OR Apache-2.0
// Time of a function, in the form of `go test -bench`.

use hashloom::kernels::{IsaSet, restrict};
use std::{hint::black_box, time::Instant};

/// As on a CPU without the instruction sets whose names have the parts in WITHOUT.
fn restrict_to_environment() {
    let without = std::env::var("WITHOUT").unwrap_or_default();
    let parts: Vec<&str> = without.split(',').filter(|part| !part.is_empty()).collect();
    let names: Vec<&str> =
        IsaSet::available().names().filter(|name| !parts.iter().any(|part| name.contains(part))).collect();
    restrict(IsaSet::parse(&names.join(",")).unwrap()).unwrap();
}

pub fn bench<T>(name: &str, mut function: impl FnMut() -> T) {
    restrict_to_environment();
    let (start, mut ncalls) = (Instant::now(), 0);
    while ncalls == 0 || start.elapsed().as_millis() < 40 {
        black_box(function());
        ncalls += 1;
    }
    println!("Benchmark{name} {ncalls} {} ns/op", start.elapsed().as_nanos() / ncalls);
}
