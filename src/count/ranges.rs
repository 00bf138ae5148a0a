//! The ranges of units that threads take, in an order that is fixed beforehand.
//!
//! The order is scattered over the plan: neighbouring units are alike, so the first ranges of the
//! order, however many, are a fair sample of all. The very first ones are short, so that there is such a
//! sample after seconds even if a unit takes a second. Threads take the ranges strictly in this order.
//! Those that are *finished* first are no fair sample: they are the cheap ones.

use std::ops::Range;
use std::time::Duration;

use crate::record::UnitSet;

/// The count of a range reports its progress this often, between two units.
pub(crate) const REPORT_EVERY: Duration = Duration::from_millis(100);

/// Ranges for each thread: enough for the last one to be short.
const RANGES_PER_THREAD: usize = 256;

/// The most units of a range. Long counts have many more units than they need ranges. At n = 18 and 19
/// the limits of 256 and 1024 made no difference that could be resolved (4 %).
const MAX_RANGE_LEN: usize = 1024;

/// Units that share the programs of `colours`, at most, 20 batches of 20: units of n = 24 in ranges of 7, 30
/// and 60 take 2.6, 1.4 and 1.2 times as long. So ranges have as many, but at most eight times the length that makes
/// 256 for each thread; the last eighth of the units comes in that length, so that threads end together.
const MAX_SHARING: usize = 400;
const AT_THE_END: usize = 8;

/// The first ranges are short, so that a long count soon knows its time: for each thread this many have the
/// length of the longest neighbourhood, as many twice that, then four times, and so on. So what a thread is at is
/// never more than a small part of what it has finished, and dear ranges, which are finished later, are not missing
/// in the sample.
///
/// No range is shorter than the longest neighbourhood (`Plan::neighbours`). In a long one each unit is cheap, and the
/// one around a unit chosen at random is a long one more often than not: with such ranges the first forecasts of
/// n = 21 were a fifth too short.
const RANGES_OF_A_LENGTH: usize = 16;

/// Cuts units into ranges for this many threads, none of them within a neighbourhood, in the order in which threads
/// take them.
pub(crate) fn cut_into_ranges(
    todo: &UnitSet,
    threads: usize,
    neighbours: impl Fn(usize) -> Range<usize>,
) -> Vec<Range<usize>> {
    let all = todo.len();
    let cut = |length| -> Vec<Range<usize>> {
        todo.ranges().flat_map(|units| cut_into_pieces(units, length, &neighbours)).collect()
    };
    let short = (all / (threads * RANGES_PER_THREAD)).clamp(1, MAX_RANGE_LEN);
    let most_neighbours =
        cut(short).iter().map(|range| neighbours(range.start).len()).max().unwrap_or(1);
    let long = most_neighbours.pow(2).min(MAX_SHARING).min(AT_THE_END * short).max(short);
    let order = scatter(&cut(long), most_neighbours, RANGES_OF_A_LENGTH * threads, &neighbours);
    let mut left = all;
    let shortened = order.into_iter().flat_map(|range| {
        let length = if left <= all / AT_THE_END { short } else { range.len() };
        left -= range.len();
        cut_into_pieces(range, length, &neighbours)
    });
    shortened.collect()
}

/// The pieces of a plan in a scattered order: of the first ones a short piece each, the shortest of this length, the
/// other pieces whole, and what is left of the first ones.
fn scatter(
    pieces: &[Range<usize>],
    shortest: usize,
    of_a_length: usize,
    neighbours: &impl Fn(usize) -> Range<usize>,
) -> Vec<Range<usize>> {
    let stride = scattering_stride(pieces.len());
    let (mut order, mut rests) = (Vec::new(), Vec::new());
    for turn in 0..pieces.len() {
        let piece = pieces[turn * stride % pieces.len()].clone();
        // No piece is longer than ten doublings of the shortest.
        let length = shortest << (turn / of_a_length).min(10);
        // Any of its short pieces, so that the period of the plan does not matter.
        let short = cut_into_pieces(piece.clone(), length, neighbours);
        let Range { start, end } = short[turn * SCATTERED % short.len()];
        order.push(start..end);
        rests.extend([piece.start..start, end..piece.end]);
    }
    order.extend(rests.into_iter().filter(|rest| !rest.is_empty()));
    order
}

/// 2^16 divided by the golden ratio: its multiples are spread evenly.
const SCATTERED: usize = 40_503;

/// Cuts a range into pieces of this length, or a little more or less, between two neighbourhoods.
fn cut_into_pieces(
    units: Range<usize>,
    length: usize,
    neighbours: &impl Fn(usize) -> Range<usize>,
) -> Vec<Range<usize>> {
    let first = units.start;
    let cuts = units.clone().step_by(length).map(|at| neighbours(at).start.max(first));
    let mut cuts: Vec<usize> = cuts.chain([units.end]).collect();
    cuts.dedup();
    cuts.windows(2).map(|ends| ends[0]..ends[1]).collect()
}

/// A stride that visits all of `0..len` in `len` steps modulo `len`, with the first steps spread
/// evenly: the golden section of the length, or the nearest number that shares no factor with it. For
/// long lists it must be near, or some early steps would nearly meet others.
fn scattering_stride(len: usize) -> usize {
    let golden = (len as u128 * 618_033_989 / 1_000_000_000) as usize;
    let nearest = (0..len).flat_map(|by| [golden + 1 + by, golden.saturating_sub(by)]);
    nearest.into_iter().find(|stride| greatest_common_divisor(*stride, len) == 1).unwrap_or(1)
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scattered_order_visits_every_range_once() {
        for len in 1..200 {
            let stride = scattering_stride(len);
            let mut visited: Vec<usize> = (0..len).map(|turn| turn * stride % len).collect();
            visited.sort_unstable();
            assert!(visited.into_iter().eq(0..len), "{len} ranges, stride {stride}");
        }
    }

    #[test]
    fn every_unit_is_taken_once() {
        let todo = UnitSet::from_iter([3..700_000, 700_001..700_002, 800_000..800_900]);
        for threads in [1, 2, 64] {
            let mut taken = cut_into_ranges(&todo, threads, |unit| unit..unit + 1);
            assert!(taken.iter().all(|units| units.len() <= MAX_RANGE_LEN));
            taken.sort_unstable_by_key(|units| units.start);
            let units = taken.into_iter().flatten();
            assert!(units.eq(todo.iter()), "{threads} threads");
        }
    }
}
