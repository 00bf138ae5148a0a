//! The ranges of units that threads take, in an order that is fixed before the count begins.
//!
//! **Order.** The plan is cut into pieces, which are put in an order that is scattered over the plan. The first half of
//! the units comes from all pieces in turn, a range from each. The second half is what is left of the pieces, one piece
//! after the other. Neighbouring units are alike, so the first ranges of the order, however many, are a fair sample of
//! all units. Threads take the ranges strictly in this order. The ranges that are *finished* first would not be a fair
//! sample, because they are the cheap ones.
//!
//! **Length.** In the first half a range is a small part of what its thread has done so far, but not shorter than the
//! largest number of units that are counted together. So a forecast soon has a sample, and what is being counted is
//! hardly missing from it. In the second half a range is a small part of what its thread has left to do, so all threads
//! end together. No range is longer than is of use.
//!
//! **Cuts.** Units that are counted together ([`Plan::counted_together`]) share most of their work. So a range is never
//! cut between two of them.
//!
//! [`Plan::counted_together`]: crate::Plan::counted_together

use std::collections::VecDeque;
use std::ops::Range;
use std::time::Duration;

/// The interval between two reports of a thread, if its units take less.
pub(crate) const REPORT_EVERY: Duration = Duration::from_millis(100);

/// The largest number of units in a range: that many share the programs of `colours`, 20 batches of 20 units.
///
/// Shorter ranges compile programs more often: at n = 24, ranges of 7, 30 and 60 units take 2.6, 1.4 and 1.2 times as
/// long.
const LONGEST: usize = 400;

/// A range is at most this part of the units that its thread has done, or has left. With a larger number there are more
/// short ranges, which cost more. With a smaller one, early forecasts lack more of the ranges that take long, and
/// threads wait longer at the end.
const PARTS: usize = 8;

/// Cuts units into ranges for this number of threads, in the order in which threads take them. `counted_together`
/// returns the units that are counted together with a unit.
pub(crate) fn cut_into_ranges(
    todo: &[Range<usize>],
    threads: usize,
    counted_together: impl Fn(usize) -> Range<usize>,
) -> Vec<Range<usize>> {
    let units = number_of_units(todo);
    let parts = threads * PARTS;
    let piece_len = (units / parts).clamp(1, LONGEST);
    let mut pieces = Vec::new();
    for range in todo {
        pieces.extend(cut_into_pieces(range, piece_len, &counted_together));
    }
    let mut order = Order { ranges: Vec::new(), done: 0, left: units, parts, counted_together };
    let rests = order.add_first_half(scattered(pieces));
    order.add_second_half(rests);
    order.ranges
}

/// The ranges that threads take, in this order.
struct Order<F> {
    ranges: Vec<Range<usize>>,
    /// The number of units in these ranges.
    done: usize,
    /// The number of units that are not in a range yet.
    left: usize,
    /// A range is this part of the units that are done, or left.
    parts: usize,
    counted_together: F,
}

impl<F: Fn(usize) -> Range<usize>> Order<F> {
    /// Adds ranges until they have half of the units. Takes one from each piece in turn, so that the first ranges come
    /// from all over the plan. Returns what is left of the pieces, beginning with the one whose turn it is.
    fn add_first_half(&mut self, pieces: Vec<Range<usize>>) -> VecDeque<Range<usize>> {
        // Where many units are counted together, each is cheap. A unit chosen at random is more often than not one of
        // them. So shorter ranges would make the first forecasts too short.
        let together = pieces.iter().map(|piece| (self.counted_together)(piece.start).len());
        let shortest = together.max().unwrap_or(1);
        let mut waiting = VecDeque::from(pieces);
        while self.done < self.left
            && let Some(piece) = waiting.pop_front()
        {
            let length = (self.done / self.parts).max(shortest);
            let rest = self.add_part(piece, length);
            if !rest.is_empty() {
                waiting.push_back(rest);
            }
        }
        waiting
    }

    /// Adds what is left of the pieces, one piece after the other.
    fn add_second_half(&mut self, pieces: impl IntoIterator<Item = Range<usize>>) {
        for piece in pieces {
            let mut rest = piece;
            while !rest.is_empty() {
                let length = (self.left / self.parts).max(1);
                rest = self.add_part(rest, length);
            }
        }
    }

    /// Adds a part of a piece, of about this length, and returns the rest.
    fn add_part(&mut self, piece: Range<usize>, length: usize) -> Range<usize> {
        // By turns the first and the last part of a piece: otherwise a period of the plan could matter.
        let from_beginning = self.ranges.len().is_multiple_of(2);
        let (part, rest) = split(piece, length, from_beginning, &self.counted_together);
        self.done += part.len();
        self.left -= part.len();
        self.ranges.push(part);
        rest
    }
}

/// Returns the number of units in these ranges.
pub(super) fn number_of_units(ranges: &[Range<usize>]) -> usize {
    ranges.iter().map(ExactSizeIterator::len).sum()
}

/// Cuts a piece in two: a part of about this length from its beginning, or from its end, and the rest. If the rest
/// would be shorter than the part, the part is the whole piece, and the rest is empty.
fn split(
    piece: Range<usize>,
    length: usize,
    from_beginning: bool,
    counted_together: &impl Fn(usize) -> Range<usize>,
) -> (Range<usize>, Range<usize>) {
    let Range { start, end } = piece;
    if 2 * length >= end - start {
        return (start..end, end..end);
    }
    if from_beginning {
        let cut = counted_together(start + length - 1).end.min(end);
        (start..cut, cut..end)
    } else {
        let cut = counted_together(end - length).start.max(start);
        (cut..end, start..cut)
    }
}

/// Puts pieces in a scattered order.
fn scattered(pieces: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let stride = scattering_stride(pieces.len());
    (0..pieces.len()).map(|turn| pieces[turn * stride % pieces.len()].clone()).collect()
}

/// Cuts a range into pieces of about this length, but not between units that are counted together.
fn cut_into_pieces(
    units: &Range<usize>,
    length: usize,
    counted_together: &impl Fn(usize) -> Range<usize>,
) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = units.start;
    for unit in units.clone().step_by(length) {
        let cut = counted_together(unit).start;
        if cut > start {
            pieces.push(start..cut);
            start = cut;
        }
    }
    if start < units.end {
        pieces.push(start..units.end);
    }
    pieces
}

/// Returns a stride that visits all of `0..len` in `len` steps modulo `len`, with the first steps spread evenly: the
/// golden section of the length, or the nearest number that shares no factor with it. For a long list the stride must
/// be near the golden section, or some early steps would nearly meet others.
fn scattering_stride(len: usize) -> usize {
    let golden = (len as u128 * 618_033_989 / 1_000_000_000) as usize;
    for distance in 0..len {
        for stride in [golden + 1 + distance, golden.saturating_sub(distance)] {
            if greatest_common_divisor(stride, len) == 1 {
                return stride;
            }
        }
    }
    1
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

    /// If each unit is counted alone, a range is at most twice the part that the rule names: a piece is not cut if its
    /// rest would be shorter.
    #[test]
    fn ranges_are_short_at_both_ends() {
        for threads in [1, 2, 16] {
            let all = 100_000;
            let todo = 0..all;
            let todo = std::slice::from_ref(&todo);
            let ranges = cut_into_ranges(todo, threads, |unit| unit..unit + 1);
            let mut done = 0;
            for range in &ranges {
                let part = done.min(all - done) / (threads * PARTS);
                assert!(
                    range.len() <= 2 * part.max(1),
                    "{range:?} after {done}, {threads} threads"
                );
                done += range.len();
            }
            assert!(ranges.iter().any(|range| range.len() >= LONGEST / 2), "{threads} threads");
        }
    }

    #[test]
    fn every_unit_is_taken_once_and_no_cut_parts_units_that_are_counted_together() {
        let todo = [3..700_000, 700_001..700_002, 800_000..800_900];
        let is_todo = |unit| todo.iter().any(|units| units.contains(&unit));
        for (threads, most) in [(1, 1), (2, 1), (2, 20), (64, 20), (64, 1000)] {
            let counted_together = |unit| unit / most * most..unit / most * most + most;
            let mut taken = cut_into_ranges(&todo, threads, counted_together);
            assert!(taken.iter().all(|units| units.len() < LONGEST + most));
            taken.sort_unstable_by_key(|units| units.start);
            let is_cut = |at: usize| !at.is_multiple_of(most) && is_todo(at - 1) && is_todo(at);
            assert!(!taken.iter().any(|units| is_cut(units.start)), "{threads} threads, {most}");
            let units = taken.into_iter().flatten();
            assert!(
                units.eq(todo.iter().cloned().flatten()),
                "{threads} threads, {most} counted together"
            );
        }
    }

    /// Another order is no fault, but whoever changes it must know: forecasts rest on it.
    #[test]
    fn the_order_of_a_small_plan_stays() {
        let written = |together: usize| {
            let first = |unit| unit / together * together;
            let ranges =
                cut_into_ranges(&[1..30, 40..60], 1, |unit| first(unit)..first(unit) + together);
            let ranges: Vec<_> =
                ranges.iter().map(|range| format!("{}-{}", range.start, range.end)).collect();
            ranges.join(" ")
        };
        let alone = "1-2 45-46 7-8 51-52 13-14 57-58 19-20 58-60 25-26 6-7 40-41 12-13 46-47 18-19 52-53 23-25 26-30 \
                     2-6 41-45 8-12 47-48 50-51 48-50 17-18 14-15 15-17 53-54 56-57 54-56 22-23 20-22";
        assert_eq!(written(1), alone);
        let in_threes = "1-6 40-45 6-12 45-51 12-18 54-57 51-54 21-24 18-21 57-60 24-27 27-30";
        assert_eq!(written(3), in_threes);
    }

    #[test]
    fn strides_are_near_the_golden_section() {
        // Neither 4 nor 5 shares a factor with 7, and the larger one comes first.
        let strides = [1, 2, 7, 10, 100, 1000, 100_000].map(scattering_stride);
        assert_eq!(strides, [1, 1, 5, 7, 61, 619, 61_803]);
        for len in 1..1000 {
            // Twice the distance from the point between the two numbers that come first.
            let distance = |stride: usize| {
                let golden = len * 618_033_989 / 1_000_000_000;
                (2 * stride).abs_diff(2 * golden + 1)
            };
            let nearest = (1..=len).filter(|&stride| greatest_common_divisor(stride, len) == 1);
            let nearest = nearest.map(distance).min();
            assert_eq!(Some(distance(scattering_stride(len))), nearest, "{len} ranges");
        }
    }
}
