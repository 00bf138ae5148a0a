//! Dates and times of day in UTC.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// A moment in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Utc {
    /// Days since 1970-01-01.
    days: u64,
    second_of_day: u64,
}

impl Utc {
    /// Whole seconds since the beginning of 1970.
    pub(crate) fn new(seconds: u64) -> Self {
        Self { days: seconds / 86_400, second_of_day: seconds % 86_400 }
    }

    /// Year, month and day of the Gregorian calendar (H. Hinnant, "chrono-compatible low-level date
    /// algorithms"): counted from the first of March, a leap day is the last day of its year.
    fn date(self) -> (u64, u64, u64) {
        let days = self.days + 719_468; // since 0000-03-01
        let (era, day_of_era) = (days / 146_097, days % 146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month = (5 * day_of_year + 2) / 153; // since March
        let day = day_of_year - (153 * month + 2) / 5 + 1;
        let is_next_year = month >= 10;
        let month = if is_next_year { month - 9 } else { month + 3 };
        (400 * era + year_of_era + u64::from(is_next_year), month, day)
    }

    /// As `11-22`.
    pub(crate) fn day(self) -> String {
        let (_, month, day) = self.date();
        format!("{month:02}-{day:02}")
    }

    /// As `05:45`.
    pub(crate) fn clock(self) -> String {
        format!("{:02}:{:02}", self.second_of_day / 3600, self.second_of_day / 60 % 60)
    }

    /// As `05:45:12`.
    pub(crate) fn clock_with_seconds(self) -> String {
        format!("{}:{:02}", self.clock(), self.second_of_day % 60)
    }
}

/// A time before 1970 is shown as its beginning.
impl From<SystemTime> for Utc {
    fn from(time: SystemTime) -> Self {
        Self::new(time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()))
    }
}

/// As `2026-11-22 05:45:12 UTC`.
impl fmt::Display for Utc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.date();
        write!(f, "{year}-{month:02}-{day:02} {} UTC", self.clock_with_seconds())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seconds are those that `date -u -d ... +%s` prints.
    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, date) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_399, "2000-02-28 23:59:59 UTC"),
            (951_825_600, "2000-02-29 12:00:00 UTC"),
            (1_735_689_599, "2024-12-31 23:59:59 UTC"),
            (1_795_326_312, "2026-11-22 05:45:12 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
        ] {
            assert_eq!(Utc::new(seconds).to_string(), date);
        }
        let then = Utc::new(1_795_326_312);
        assert_eq!((then.day(), then.clock()), ("11-22".to_owned(), "05:45".to_owned()));
    }
}
