// SPDX-License-Identifier: MIT OR Apache-2.0

//! Rates and times for people. A time may be longer than the universe is old.

use std::time::Duration;

use hashloom_frame::units;

/// Formats `512 nonces/s`, `43.3 M nonces/s`.
pub fn rate(each_second: f64) -> String {
    match each_second {
        rate if rate >= 1e6 => format!("{:.1} M nonces/s", rate / 1e6),
        rate => format!("{rate:.0} nonces/s"),
    }
}

/// Formats `2 min 5 s`, `41 days`, `300 years`, `1e57 years`.
pub fn time(seconds: f64) -> String {
    const DAY: f64 = 86_400.0;
    const YEAR: f64 = 365.25 * DAY;
    match seconds {
        seconds if seconds < 2.0 * DAY => units::duration(Duration::from_secs_f64(seconds.max(0.0))),
        seconds if seconds < 2.0 * YEAR => format!("{:.0} days", seconds / DAY),
        seconds if seconds < 1e6 * YEAR => format!("{:.0} years", seconds / YEAR),
        seconds => format!("{:.0e} years", seconds / YEAR),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let cases = [
            (0.0, "0.00 s"),
            (-1.0, "0.00 s"),
            (125.0, "2 min 5 s"),
            (3e5, "3 days"),
            (1e9, "32 years"),
            (1e64, "3e56 years"),
            (f64::INFINITY, "inf years"),
        ];
        for (seconds, text) in cases {
            assert_eq!(time(seconds), text);
        }
        assert_eq!([rate(0.4), rate(999_999.0), rate(4.33e7)], ["0 nonces/s", "999999 nonces/s", "43.3 M nonces/s"]);
    }
}
