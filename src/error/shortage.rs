//! The report of a lack of memory: what is needed, and what would fit.

use std::fmt;

use crate::machine::memory::readable;

/// A count that needs more memory than it may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// The engine.
    pub engine: &'static str,
    /// The size of the board.
    pub n: u32,
    /// Bytes that the count needs at least.
    pub needed: u64,
    /// The number of threads.
    pub threads: usize,
    /// Bytes that the count needs at least with one thread.
    pub least: u64,
    /// The most threads that fit the budget; 0 if not even one fits.
    pub fitting: usize,
    /// Bytes that the count may use.
    pub budget: u64,
    /// Whether the user gave the budget; otherwise it is what this machine has now.
    pub given: bool,
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { engine, n, threads, fitting, .. } = self;
        let (needed, budget) = (readable(self.needed), readable(self.budget));
        let plural = if *threads == 1 { "" } else { "s" };
        write!(
            f,
            "engine {engine} needs at least {needed} for n = {n} on {threads} thread{plural}, and "
        )?;
        match self.given {
            true => write!(f, "--memory allows {budget}: ")?,
            false => write!(f, "only {budget} is available here (see 'nqueens cpu'): ")?,
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
        match *engine {
            "subtrees" => Ok(()),
            _ => f.write_str(", or use --engine subtrees"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_names_what_fits_and_the_way_out() {
        let shortage = Shortage {
            engine: "halves",
            n: 24,
            needed: 3 << 30,
            threads: 4,
            least: 768 << 20,
            fitting: 2,
            budget: 2 << 30,
            given: true,
        };
        assert_eq!(
            shortage.to_string(),
            "engine halves needs at least 3.0 GiB for n = 24 on 4 threads, and --memory allows 2.0 GiB: it \
             fits with --threads 2; allow more, or use --engine subtrees"
        );
        let here = Shortage { given: false, fitting: 0, budget: 300 << 20, ..shortage.clone() };
        let here = here.to_string();
        let expected = "only 300.0 MiB is available here (see 'nqueens cpu'): one thread alone \
                        needs 768.0 MiB; count where there is more memory, or";
        assert!(here.contains(expected) && !here.contains("--memory"), "{here}");
        let other = Shortage { engine: "subtrees", ..shortage }.to_string();
        assert!(other.ends_with("allow more"), "{other}");
    }
}
