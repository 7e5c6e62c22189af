// SPDX-License-Identifier: MIT OR Apache-2.0

//! OpenSSL's speed, as its own command measures it: `openssl speed`. The program links no other library that hashes.

use std::io;
use std::process::{Command, Stdio};

use hashloom::Algorithm;
use hashloom_frame::text::reason;

/// The command, and its version.
pub struct OpenSsl {
    program: &'static str,
    pub name: String,
}

impl OpenSsl {
    pub fn find(program: &'static str) -> Result<OpenSsl, String> {
        let version = run(program, &["version"])?;
        let words: Vec<&str> = version.split_ascii_whitespace().take(2).collect();
        Ok(OpenSsl { program, name: words.join(" ") })
    }

    /// Returns the bytes a second of messages of this length, one after the other. It takes a second.
    pub fn speed(&self, algorithm: Algorithm, nbytes: usize) -> Result<f64, String> {
        // OpenSSL knows the algorithms by the same names.
        let output = run(
            self.program,
            &["speed", "-mr", "-seconds", "1", "-bytes", &nbytes.to_string(), "-evp", algorithm.name()],
        )?;
        found(&output).ok_or_else(|| format!("{} speed: a line \"+F:…:BYTES\" is missing", self.program))
    }
}

/// The figure in the output of `openssl speed -mr`: `+F:25:sha256:401071425.64`.
fn found(output: &str) -> Option<f64> {
    let line = output.lines().find(|line| line.starts_with("+F:"))?;
    line.rsplit_once(':')?.1.parse().ok().filter(|speed| *speed > 0.0)
}

/// Returns what the program prints; if it fails, the first line of its error.
fn run(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = match Command::new(program).args(arguments).stdin(Stdio::null()).output() {
        Ok(output) => output,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(format!("no command {program} in PATH")),
        Err(error) => return Err(format!("{program}: {}", reason(&error))),
    };
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let error = String::from_utf8_lossy(&output.stderr);
    let line = error.lines().find(|line| !line.trim().is_empty()).unwrap_or("it failed without a message");
    Err(format!("{program} {}", line.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures() {
        assert_eq!(found("+H:64\n+F:25:sha256:401071425.64\n"), Some(401_071_425.64));
        assert_eq!(found("+H:64\n+F:25:sha256:0.00\n"), None);
        assert_eq!(found("sha256 401071.42k\n"), None);
    }

    #[test]
    fn a_command_that_is_not_there_or_fails_says_so() {
        let error = OpenSsl::find("no-such-openssl").err().unwrap();
        assert_eq!(error, "no command no-such-openssl in PATH");
        assert!(run("cargo", &["no-such-command"]).unwrap_err().starts_with("cargo error: no such command"));
    }
}
