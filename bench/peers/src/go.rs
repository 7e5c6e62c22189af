// SPDX-License-Identifier: MIT OR Apache-2.0
//! Go's standard library, in a process of its own (`go/main.go`), which waits while the others are measured.

use std::env;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::peers::Side;
use crate::scenario::Messages;

pub struct Go {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    pub version: String,
    digests: Vec<u8>,
}

impl Go {
    /// The program that the variable `PEERS_GO` names, if it is set.
    pub fn start() -> Option<Go> {
        let program = env::var_os("PEERS_GO").filter(|program| !program.is_empty())?;
        let mut child = Command::new(&program)
            .env("GOMAXPROCS", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        let to = child.stdin.take();
        let mut from = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut version = String::new();
        from.read_line(&mut version).expect("the Go program names its version first");
        Some(Go { child, to, from, version: version.trim().into(), digests: Vec::new() })
    }

    fn send(&mut self, request: &[u8]) {
        self.to.as_mut().expect("open until drop").write_all(request).expect("the Go program takes requests");
    }
}

impl Side for Go {
    fn name(&self) -> &str {
        "Go"
    }

    fn hash(&mut self, messages: &Messages) -> bool {
        let mut request = format!("load {} {}\n", messages.algorithm.name(), messages.slices.len()).into_bytes();
        for message in &messages.slices {
            request.extend((message.len() as u32).to_le_bytes());
        }
        request.extend(messages.data);
        self.send(&request);
        self.digests.resize(messages.digests_len(), 0);
        self.from.read_exact(&mut self.digests).expect("the Go program answers with the digests");
        true
    }

    fn digests(&self) -> Vec<u8> {
        self.digests.clone()
    }

    fn time(&mut self, _: &Messages, repeat: u32) -> f64 {
        self.send(format!("run {repeat}\n").as_bytes());
        let mut answer = String::new();
        self.from.read_line(&mut answer).expect("the Go program answers with nanoseconds");
        let ns: f64 = answer.trim().parse().expect("the Go program answers with nanoseconds");
        ns * 1e-9 / f64::from(repeat)
    }
}

impl Drop for Go {
    fn drop(&mut self) {
        // The process ends when its input ends.
        drop(self.to.take());
        let _ = self.child.wait();
    }
}
