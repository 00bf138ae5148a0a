//! The ranges of units that threads take, in an order that is fixed before the count begins.
//!
//! The order is scattered over the plan. Neighbouring units are alike, so the first ranges of the order, however
//! many, are a fair sample of all units. The very first ranges are short: then there is a fair sample after seconds
//! even if a unit takes a second. Threads take the ranges strictly in this order. The ranges that are *finished*
//! first would not be a fair sample, because they are the cheap ones.

use std::ops::Range;
use std::time::Duration;

/// The interval between two reports of a thread, if its units take less.
pub(crate) const REPORT_EVERY: Duration = Duration::from_millis(100);

/// The number of ranges for each thread. It is large enough that the last range is short.
const RANGES_PER_THREAD: usize = 256;

/// The largest number of units in a range of ordinary length: long counts have many more units than they need ranges.
/// At n = 18 and 19, 256 and 1024 made no difference that could be measured (4 %).
const MAX_RANGE_LEN: usize = 1024;

/// The largest number of units that share the programs of `colours`: 20 batches of 20 units.
///
/// Ranges shorter than that compile programs more often: at n = 24, ranges of 7, 30 and 60 units take 2.6, 1.4 and
/// 1.2 times as long. So ranges have this many units, but at most [`AT_THE_END`] times the length that makes
/// [`RANGES_PER_THREAD`].
const MAX_SHARING: usize = 400;
/// The last units of a count, one part in this number, come in the shorter length, so that threads end together.
const AT_THE_END: usize = 8;

/// A count begins with ranges of the length of the longest neighbourhood ([`Plan::neighbours`]), then come ranges of
/// twice that length, then of four times, and so on: this many of each length for each thread, and [`MIN_OF_A_LENGTH`]
/// at least.
///
/// So a long count soon has a forecast. What a thread is counting is a small part of what it has finished, so ranges
/// that take long, which are finished later, are hardly missing from the sample. But short ranges cost more: with 16
/// of each length, the first twentieth of n = 24 on 16 threads took 1.25 times as long as it should, and the first
/// forecasts were 1.6 times too long.
///
/// No range is shorter than the longest neighbourhood. In a long neighbourhood each unit is cheap, and a unit chosen
/// at random more often than not lies in a long one. With shorter ranges the first forecasts of n = 21 were a fifth
/// too short.
///
/// [`Plan::neighbours`]: crate::Plan::neighbours
const RANGES_OF_A_LENGTH: usize = 4;
/// The smallest number of ranges of each length, so that few threads have a sample, too.
const MIN_OF_A_LENGTH: usize = 16;

/// Cuts units into ranges for this number of threads, in the order in which threads take them. No range ends within a
/// neighbourhood.
pub(crate) fn cut_into_ranges(
    todo: &[Range<usize>],
    threads: usize,
    neighbours: impl Fn(usize) -> Range<usize>,
) -> Vec<Range<usize>> {
    let all = todo.iter().map(ExactSizeIterator::len).sum::<usize>();
    let cut = |length| -> Vec<Range<usize>> {
        let pieces = |units: &Range<usize>| cut_into_pieces(units.clone(), length, &neighbours);
        todo.iter().flat_map(pieces).collect()
    };
    let short = (all / (threads * RANGES_PER_THREAD)).clamp(1, MAX_RANGE_LEN);
    let most_neighbours =
        cut(short).iter().map(|range| neighbours(range.start).len()).max().unwrap_or(1);
    let long = most_neighbours.pow(2).min(MAX_SHARING).min(AT_THE_END * short).max(short);
    let of_a_length = (RANGES_OF_A_LENGTH * threads).max(MIN_OF_A_LENGTH);
    let order = scatter(&cut(long), most_neighbours, of_a_length, &neighbours);
    let mut left = all;
    let shortened = order.into_iter().flat_map(|range| {
        let length = if left <= all / AT_THE_END { short } else { range.len() };
        left -= range.len();
        cut_into_pieces(range, length, &neighbours)
    });
    shortened.collect()
}

/// Puts the pieces of a plan in a scattered order. The first pieces are cut in two: a short part, from the length
/// `shortest` on, takes the place of the piece, and the rest of the piece comes after all other pieces.
fn scatter(
    pieces: &[Range<usize>],
    shortest: usize,
    of_a_length: usize,
    neighbours: &impl Fn(usize) -> Range<usize>,
) -> Vec<Range<usize>> {
    let stride = scattering_stride(pieces.len());
    let (mut order, mut rests) = (Vec::new(), Vec::new());
    for turn in 0..pieces.len() {
        let Range { start, end } = pieces[turn * stride % pieces.len()];
        // The length doubles at most ten times.
        let length = shortest << (turn / of_a_length).min(10);
        if 2 * length >= end - start {
            order.push(start..end);
            continue;
        }
        // By turns the first and the last part of a piece: otherwise a period of the plan could matter.
        let (short, rest) = if turn % 2 == 0 {
            let cut = neighbours(start + length - 1).end.min(end);
            (start..cut, cut..end)
        } else {
            let cut = neighbours(end - length).start.max(start);
            (cut..end, start..cut)
        };
        order.push(short);
        rests.push(rest);
    }
    order.extend(rests.into_iter().filter(|rest| !rest.is_empty()));
    order
}

/// Cuts a range into pieces of about this length, each cut between two neighbourhoods.
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

/// Returns a stride that visits all of `0..len` in `len` steps modulo `len`, with the first steps spread evenly: the
/// golden section of the length, or the nearest number that shares no factor with it. For a long list the stride must
/// be near the golden section, or some early steps would nearly meet others.
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
    fn every_unit_is_taken_once_and_no_neighbourhood_is_cut() {
        let todo = [3..700_000, 700_001..700_002, 800_000..800_900];
        let is_todo = |unit| todo.iter().any(|units| units.contains(&unit));
        for (threads, most) in [(1, 1), (2, 1), (2, 20), (64, 20), (64, 1000)] {
            let neighbours = |unit| unit / most * most..unit / most * most + most;
            let mut taken = cut_into_ranges(&todo, threads, neighbours);
            assert!(taken.iter().all(|units| units.len() < MAX_RANGE_LEN + most));
            taken.sort_unstable_by_key(|units| units.start);
            let is_cut = |at: usize| !at.is_multiple_of(most) && is_todo(at - 1) && is_todo(at);
            assert!(!taken.iter().any(|units| is_cut(units.start)), "{threads} threads, {most}");
            let units = taken.into_iter().flatten();
            assert!(
                units.eq(todo.iter().cloned().flatten()),
                "{threads} threads, {most} neighbours"
            );
        }
    }
}
