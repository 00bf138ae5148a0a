//! How a lack of memory is told: how much is needed, what would fit, and what the way out costs.

use std::fmt;

use crate::known::known;
use crate::memory::readable;
use crate::size::BoardSize;

/// A count that needs more memory than it may use.
pub(super) struct Shortage<'a> {
    pub(super) engine: &'a str,
    pub(super) n: u32,
    /// Bytes for all threads.
    pub(super) needed: u64,
    pub(super) threads: usize,
    /// Bytes for one thread.
    pub(super) least: u64,
    /// The most threads that fit.
    pub(super) fitting: usize,
    pub(super) budget: u64,
    pub(super) given: bool,
}

impl fmt::Display for Shortage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { engine, n, threads, fitting, .. } = self;
        let (needed, budget) = (readable(self.needed), readable(self.budget));
        let plural = if *threads == 1 { "" } else { "s" };
        write!(f, "engine {engine} needs {needed} for n = {n} on {threads} thread{plural}, and ")?;
        match self.given {
            true => write!(f, "--memory allows {budget}: ")?,
            false => write!(f, "{budget} are to be had here (see 'nqueens cpu'): ")?,
        }
        match fitting {
            0 if *threads == 1 => {}
            0 => write!(f, "one thread alone needs {}; ", readable(self.least))?,
            _ => write!(f, "it fits with --threads {fitting}; ")?,
        }
        match self.given {
            true => f.write_str("allow more")?,
            false => f.write_str("count where there is more memory")?,
        }
        // Named in words, since errors know no engines.
        if *engine == "subtrees" {
            return Ok(());
        }
        write!(f, ", or take --engine subtrees, about {}", time_of_subtrees(*n))
    }
}

/// How long engine `subtrees` takes with its fastest kernel, as `570 core-hours`.
fn time_of_subtrees(n: u32) -> String {
    // 7.6 ns at n = 16 and 17, 7.9 at 18, 8.0 at 19; beyond that it is a guess.
    let nanoseconds = 8.0 + 0.15 * (f64::from(n) - 19.0);
    let hours = solutions(n) * nanoseconds / 1e9 / 3600.0;
    match hours {
        ..1.0 => "an hour of one core or less".to_owned(),
        ..20_000.0 => format!("{} core-hours", two_digits(hours)),
        _ => format!("{} core-years", two_digits(hours / 8766.0)),
    }
}

/// The published number of solutions; beyond the table Simkin's (0.143 n)^n, the leading term.
fn solutions(n: u32) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
    let published = BoardSize::new(n).ok().and_then(|size| known(size).total).map(|q| q as f64);
    published.unwrap_or_else(|| (0.143 * f64::from(n)).powf(n.into()))
}

/// Rounded to two digits.
fn two_digits(number: f64) -> f64 {
    let unit = 10_f64.powf(number.log10().floor() - 1.0).max(1.0);
    (number / unit).round() * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORTAGE: Shortage<'static> = Shortage {
        engine: "halves",
        n: 24,
        needed: 3 << 30,
        threads: 4,
        least: 768 << 20,
        fitting: 2,
        budget: 2 << 30,
        given: true,
    };

    #[test]
    fn the_message_tells_what_fits_and_what_the_way_out_costs() {
        assert_eq!(
            SHORTAGE.to_string(),
            "engine halves needs 3.0 GiB for n = 24 on 4 threads, and --memory allows 2.0 GiB: it \
             fits with --threads 2; allow more, or take --engine subtrees, about 550 core-hours"
        );
        let here = Shortage { given: false, fitting: 0, budget: 300 << 20, ..SHORTAGE }.to_string();
        let expected = "300.0 MiB are to be had here (see 'nqueens cpu'): one thread alone needs \
                        768.0 MiB; count where there is more memory, or";
        assert!(here.contains(expected) && !here.contains("--memory"), "{here}");
        let other = Shortage { engine: "subtrees", ..SHORTAGE }.to_string();
        assert!(other.ends_with("allow more"), "{other}");
    }

    #[test]
    fn times_rise_with_the_board() {
        let times = [14, 20, 22, 27, 32].map(time_of_subtrees);
        let expected = [
            "an hour of one core or less",
            "an hour of one core or less",
            "6 core-hours",
            "68 core-years",
            "430000 core-years",
        ];
        assert_eq!(times, expected);
    }
}
