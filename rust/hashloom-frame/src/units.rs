// SPDX-License-Identifier: MIT OR Apache-2.0

//! Numbers for people.

use std::time::Duration;

use hashloom_files::run::HeldBack;

/// Formats a size: `353.2 KiB`, `1 byte`, `256 KiB`.
pub fn size(nbytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if nbytes < 1024 {
        return plural(nbytes, "byte");
    }
    let mut value = nbytes as f64 / 1024.0;
    let mut unit = 0;
    // 1023.95 would be rounded to 1024.0.
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let text = format!("{value:.1}");
    format!("{} {}", text.strip_suffix(".0").unwrap_or(&text), UNITS[unit])
}

/// Formats a size exactly: `64 bytes`, `1536 bytes`, `16 KiB`, `1 MiB`.
pub fn bytes(nbytes: u64) -> String {
    match nbytes {
        0 => plural(0, "byte"),
        _ if nbytes % (1 << 20) == 0 => format!("{} MiB", nbytes >> 20),
        _ if nbytes % (1 << 10) == 0 => format!("{} KiB", nbytes >> 10),
        _ => plural(nbytes, "byte"),
    }
}

/// Formats a rate: `1.9 GiB/s`; `None` if no time has passed.
pub fn rate(nbytes: u64, elapsed: Duration) -> Option<String> {
    let seconds = elapsed.as_secs_f64();
    (seconds > 0.0).then(|| format!("{}/s", size((nbytes as f64 / seconds) as u64)))
}

/// Formats `, 1.2 GiB read at 1.9 GiB/s, held back by the CPU` for the end of a line; empty if that says nothing, as of
/// a few bytes. Holes are not read.
pub fn read_at(nbytes_read: u64, elapsed: Duration, held_back: Option<HeldBack>) -> String {
    match rate(nbytes_read, elapsed) {
        Some(rate) if nbytes_read >= 1 << 20 => format!(", {} read at {rate}{}", size(nbytes_read), by(held_back)),
        _ => String::new(),
    }
}

/// Formats `, held back by the disk`; empty if that is not known.
pub fn by(held_back: Option<HeldBack>) -> &'static str {
    match held_back {
        Some(HeldBack::Disk) => ", held back by the disk",
        Some(HeldBack::Cpu) => ", held back by the CPU",
        Some(HeldBack::Rate) => ", held back by --rate",
        _ => "",
    }
}

/// Formats a time: `0.25 s`, `12.3 s`, `2 min 5 s`, `3 h 20 min`.
pub fn duration(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    match seconds {
        0..10 => format!("{:.2} s", elapsed.as_secs_f64()),
        10..60 => format!("{:.1} s", elapsed.as_secs_f64()),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// Formats a percentage, rounded down: only the whole is 100%, and only nothing is 0.0%.
pub fn percent(part: u64, whole: u64) -> String {
    match tenths_of_percent(part, whole) {
        1000 => "100%".to_owned(),
        0 if part > 0 => "<0.1%".to_owned(),
        tenths => format!("{}.{}%", tenths / 10, tenths % 10),
    }
}

/// Returns tenths of percent, rounded down; if the whole is 0, the part is all of it.
pub fn tenths_of_percent(part: u64, whole: u64) -> u64 {
    match whole {
        0 => 1000,
        _ => (u128::from(part) * 1000 / u128::from(whole)) as u64,
    }
}

/// Formats a number with its noun: `1 piece`, `2 pieces`.
pub fn plural(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Formats seconds since 1970: `2023-11-14 22:13:20 UTC`. Returns `None` beyond the years 0 to 9999.
pub fn date(seconds: i64) -> Option<String> {
    let (day, second) = (day(seconds.div_euclid(86_400))?, seconds.rem_euclid(86_400));
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    Some(format!("{day} {hour:02}:{minute:02}:{second:02} UTC"))
}

/// Formats days since 1970-01-01: `2023-11-14`. Returns `None` beyond the years 0 to 9999.
pub fn day(days: i64) -> Option<String> {
    // Days count from 1 March of the year 0 of the Gregorian calendar. A leap day is then the last of its year, and
    // every 400 years have 146 097 days.
    let days = days.checked_add(719_468)?;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // Months from March on have 31, 30, 31, 30, 31 days, then again: 153 days in five.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = era * 400 + year + next_year;
    (0..=9999).contains(&year).then(|| format!("{year:04}-{month:02}-{day:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        // From `date -u -d @N`.
        let cases = [
            (0, "1970-01-01 00:00:00"),
            (-1, "1969-12-31 23:59:59"),
            (5_097_600, "1970-03-01 00:00:00"),
            (31_449_600, "1970-12-31 00:00:00"),
            (31_536_000, "1971-01-01 00:00:00"),
            (68_169_600, "1972-02-29 00:00:00"),
            (951_782_400, "2000-02-29 00:00:00"),
            (951_868_800, "2000-03-01 00:00:00"),
            (1_700_000_000, "2023-11-14 22:13:20"),
            (4_107_542_399, "2100-02-28 23:59:59"),
            (4_107_542_400, "2100-03-01 00:00:00"),
            (253_402_300_799, "9999-12-31 23:59:59"),
            (-62_135_596_800, "0001-01-01 00:00:00"),
        ];
        for (seconds, text) in cases {
            assert_eq!(date(seconds).unwrap(), format!("{text} UTC"));
        }
        assert_eq!([253_402_300_800, i64::MAX, i64::MIN, -100_000_000_000].map(date), [None, None, None, None]);
    }

    #[test]
    fn sizes() {
        let cases = [
            (0, "0 bytes"),
            (1, "1 byte"),
            (1023, "1023 bytes"),
            (1024, "1 KiB"),
            (1536, "1.5 KiB"),
            (361_686, "353.2 KiB"),
            ((1 << 20) - 1, "1 MiB"),
            (5 << 30, "5 GiB"),
            (1 << 40, "1 TiB"),
            (u64::MAX, "16 EiB"),
        ];
        for (nbytes, text) in cases {
            assert_eq!(size(nbytes), text);
        }
    }

    #[test]
    fn exact_sizes() {
        let cases = [(0, "0 bytes"), (1, "1 byte"), (1536, "1536 bytes"), (3 << 10, "3 KiB"), (1025 << 10, "1025 KiB")];
        for (nbytes, text) in cases {
            assert_eq!(bytes(nbytes), text);
        }
        assert_eq!(bytes(4 << 20), "4 MiB");
    }

    #[test]
    fn only_all_is_100_percent() {
        assert_eq!(percent(u64::MAX - 1, u64::MAX), "99.9%");
        assert_eq!(percent(u64::MAX, u64::MAX), "100%");
        assert_eq!(percent(0, 0), "100%");
        assert_eq!(percent(1, 3), "33.3%");
        assert_eq!(percent(0, 3), "0.0%");
        assert_eq!(percent(1, 2000), "<0.1%");
        assert_eq!(percent(1, 1000), "0.1%");
    }

    #[test]
    fn durations() {
        let cases =
            [(0.004, "0.00 s"), (9.5, "9.50 s"), (59.0, "59.0 s"), (125.0, "2 min 5 s"), (12_000.0, "3 h 20 min")];
        for (seconds, text) in cases {
            assert_eq!(duration(Duration::from_secs_f64(seconds)), text);
        }
    }
}
