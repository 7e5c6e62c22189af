// SPDX-License-Identifier: MIT OR Apache-2.0

//! What a figure is worth little without: the CPU and the day.

use std::time::{SystemTime, UNIX_EPOCH};

/// The CPU's own name where the system tells it, else its architecture.
pub fn cpu() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    cpu_of(&text).unwrap_or_else(|| format!("{} CPU", std::env::consts::ARCH))
}

/// `model name` is that of x86; others have `Model`, `cpu` or nothing.
fn cpu_of(cpuinfo: &str) -> Option<String> {
    ["model name", "Model", "cpu model", "cpu"].into_iter().find_map(|key| {
        let (_, name) = cpuinfo.lines().filter_map(|line| line.split_once(':')).find(|(k, _)| k.trim() == key)?;
        let name: String = name.chars().filter(|c| !c.is_control()).collect();
        let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
        (!name.is_empty()).then_some(name)
    })
}

/// Today in Greenwich: `2026-11-20`.
pub fn today() -> String {
    date(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs() / 86_400))
}

/// The date so many days after 1970-01-01, in the Gregorian calendar.
fn date(days: u64) -> String {
    let is_leap = |year: u64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let (mut year, mut days) = (1970, days);
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let mut month = 1;
    for length in [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        // From `date -u -d @$((86400 * n)) +%F`.
        let cases = [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (364, "1970-12-31"),
            (365, "1971-01-01"),
            (789, "1972-02-29"),
            (11_016, "2000-02-29"),
            (20_777, "2026-11-20"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
        ];
        for (days, text) in cases {
            assert_eq!(date(days), text);
        }
    }

    #[test]
    fn names_of_cpus() {
        let xeon = "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 173\nmodel name\t: Intel(R)  Xeon(R) 6 \n";
        assert_eq!(cpu_of(xeon).as_deref(), Some("Intel(R) Xeon(R) 6"));
        let pi = "processor\t: 0\nCPU implementer\t: 0x41\n\nModel\t\t: Raspberry Pi 4 Model B Rev 1.4\n";
        assert_eq!(cpu_of(pi).as_deref(), Some("Raspberry Pi 4 Model B Rev 1.4"));
        assert_eq!(cpu_of("processor\t: 0\nmodel name\t:\n"), None);
        assert_eq!(cpu_of(""), None);
    }
}
