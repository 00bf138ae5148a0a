//! The date of today, without a table of time zones: journals name days in UTC.

use std::time::{Duration, SystemTime};

/// The number of days in 400 years. The calendar repeats itself after them.
const DAYS_OF_400_YEARS: u64 = 400 * 365 + 97;
/// The number of days from 1 March of the year 0 to 1 January 1970.
const DAYS_BEFORE_1970: u64 = 719_468;
const SECONDS_OF_A_DAY: u64 = 24 * 60 * 60;

/// Returns the date in UTC: `2026-11-26`. A clock that is set before 1970 gives the first day of 1970.
pub(crate) fn today() -> String {
    date_at(SystemTime::now())
}

fn date_at(time: SystemTime) -> String {
    let since_1970 = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let (year, month, day) = civil_date(since_1970.as_secs() / SECONDS_OF_A_DAY);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Returns the year, the month (1 to 12) and the day of the month of a day that is counted from 1 January 1970.
///
/// The idea is from Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": years begin in March, so that the
/// leap day is the last day of a year, and no month after it is moved.
fn civil_date(days_since_1970: u64) -> (u64, u64, u64) {
    let days = days_since_1970 + DAYS_BEFORE_1970;
    let day_of_400_years = days % DAYS_OF_400_YEARS;
    // A leap day ends 4 years, but not 100 years, except that one ends 400 years. These are the days of so many years.
    let leap_days =
        day_of_400_years / 1460 - day_of_400_years / 36_524 + day_of_400_years / 146_096;
    let year_of_400 = (day_of_400_years - leap_days) / 365;
    let day_of_year = day_of_400_years - (365 * year_of_400 + year_of_400 / 4 - year_of_400 / 100);
    // From March on, each five months have 153 days.
    let months_since_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * months_since_march + 2) / 5 + 1;
    let year = days / DAYS_OF_400_YEARS * 400 + year_of_400;
    if months_since_march < 10 {
        (year, months_since_march + 3, day)
    } else {
        (year + 1, months_since_march - 9, day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_seconds_have_their_dates() {
        let dates = [
            (0, "1970-01-01"),
            (86_399, "1970-01-01"),
            (86_400, "1970-01-02"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_000_000_000, "2001-09-09"),
            (1_234_567_890, "2009-02-13"),
            (1_709_164_800, "2024-02-29"),
            (1_798_761_599, "2026-12-31"),
            (1_798_761_600, "2027-01-01"),
            (2_147_483_647, "2038-01-19"),
            // 2100 is no leap year.
            (4_107_455_999, "2100-02-27"),
            (4_107_456_000, "2100-02-28"),
            (4_107_542_400, "2100-03-01"),
            (253_402_300_799, "9999-12-31"),
        ];
        for (seconds, date) in dates {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(date_at(time), date, "{seconds}");
        }
        let before = SystemTime::UNIX_EPOCH - Duration::from_secs(1);
        assert_eq!(date_at(before), "1970-01-01");
    }

    /// Counts the days of all months up to the year 2801, in which the calendar has repeated itself twice.
    #[test]
    fn every_day_follows_the_day_before_it() {
        let mut days_since_1970 = 0;
        for year in 1970..=2801 {
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            for month in 1..=12 {
                let days = match month {
                    2 if is_leap => 29,
                    2 => 28,
                    4 | 6 | 9 | 11 => 30,
                    _ => 31,
                };
                for day in 1..=days {
                    assert_eq!(civil_date(days_since_1970), (year, month, day));
                    days_since_1970 += 1;
                }
            }
        }
    }
}
