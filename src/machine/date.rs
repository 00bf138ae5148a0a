//! Dates in UTC, because journals of one count come from machines in several time zones.

use std::fmt::Write as _;
use std::time::SystemTime;

use humantime::format_rfc3339_seconds;

/// Returns the date of today: `2026-11-26`.
pub(crate) fn today() -> String {
    let (date, _time) = date_and_time(SystemTime::now());
    date
}

/// Returns the date and the time of day: `2026-11-22` and `05:45:12`. A clock or a file may have any time, and years
/// before 1970 or after 9999 are shown as the first second of 1970.
pub(crate) fn date_and_time(time: SystemTime) -> (String, String) {
    let mut text = String::new();
    // The crate panics before 1970, and returns an error after 9999.
    if time < SystemTime::UNIX_EPOCH || write!(text, "{}", format_rfc3339_seconds(time)).is_err() {
        text = format_rfc3339_seconds(SystemTime::UNIX_EPOCH).to_string();
    }
    let (date, time) = text.split_once('T').expect("2026-11-22T05:45:12Z");
    (date.to_owned(), time.trim_end_matches('Z').to_owned())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn any_clock_has_a_date() {
        let dates = [
            (0, "1970-01-01", "00:00:00"),
            (951_868_799, "2000-02-29", "23:59:59"),
            (951_868_800, "2000-03-01", "00:00:00"),
            (1_795_326_312, "2026-11-22", "05:45:12"),
            (1_798_761_600, "2027-01-01", "00:00:00"),
            // 2100 is no leap year.
            (4_107_542_400, "2100-03-01", "00:00:00"),
            (253_402_300_799, "9999-12-31", "23:59:59"),
            (253_402_300_800, "1970-01-01", "00:00:00"),
            (i64::MAX as u64, "1970-01-01", "00:00:00"),
        ];
        for (seconds, date, time) in dates {
            let moment = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(date_and_time(moment), (date.to_owned(), time.to_owned()), "{seconds}");
        }
        let before = SystemTime::UNIX_EPOCH - Duration::from_nanos(1);
        assert_eq!(date_and_time(before).0, "1970-01-01");
    }
}
