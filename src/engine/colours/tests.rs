//! Tests engine `colours` on small boards. With tiny limits they take the paths of large boards.

mod reference;
mod symmetries;

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::kernel::LABEL_SHIFT;
use super::limits::Limits;
use super::list::{List, Zones};
use super::squares::{Colour, sub_boards};
use super::tree::Tree;
use super::*;
use crate::cancel::Cancel;
use crate::engine::count_domains;
use crate::engine::tests::{kernels, random, size};
use crate::engine::unit::Interrupt;

/// Makes limits, some of them tiny. Numbers of small boards have few bits, so digits are short.
fn tiny(size: BoardSize, random: &mut fastrand::Rng) -> Limits {
    let mut limits = Limits::new(size);
    let mut some = |tiny: &mut dyn FnMut(&mut Limits, &mut fastrand::Rng)| {
        if random.u8(..3) > 0 {
            tiny(&mut limits, random);
        }
    };
    some(&mut |limits, random| limits.block_labels = 1 << random.u8(1..5));
    some(&mut |limits, random| limits.stretch_words = random.usize(1..300));
    some(&mut |limits, random| limits.part_len = random.usize(1..200));
    some(&mut |limits, random| limits.light_part_len = random.usize(1..70));
    some(&mut |limits, random| limits.matrix_rows = random.usize(..100));
    some(&mut |limits, random| {
        limits.digit_bits = random.u32(2..8);
        let most = (1 << (3 * limits.digit_bits - 2)) - 1;
        limits.largest_entry = limits.largest_entry.min(u16::try_from(most).unwrap_or(u16::MAX));
    });
    some(&mut |limits, random| {
        let most: [&[usize]; 3] =
            [&[usize::MAX; 2], &[usize::MAX, usize::MAX, 5, 9], &[usize::MAX; 6]];
        limits.leaf_words = most[random.usize(..3)];
    });
    some(&mut |limits, random| limits.leaf_planes = random.usize(1..60));
    some(&mut |limits, random| limits.section_completions = random.usize(1..40));
    limits
}

/// Each round takes other limits and other batches, in any order, on one counter.
#[test]
fn tiny_limits_change_no_count() {
    let mut random = random();
    let cancel = Cancel::new();
    for n in 8..=13 {
        let colours = Colours::new(size(n));
        let units = colours.len();
        let recount = |unit| {
            count_domains(&colours.domains(unit, Pass::First), &cancel).expect("no overflow")
        };
        for kernel in kernels() {
            for round in 0..8 {
                let pass = [Pass::First, Pass::Second][round % 2];
                let limits = tiny(size(n), &mut random);
                let mut counter = ColoursCounter::new(&colours.units, kernel, pass, limits);
                for _ in 0..8 {
                    let first = random.usize(..units);
                    let end = random.usize(first..units) + 1;
                    let mut counts = Vec::new();
                    let counted = counter.count_batch(first..end, &cancel, &mut counts);
                    assert_eq!(counted, Ok(()));
                    let recounted: Vec<u64> = (first..first + counts.len()).map(recount).collect();
                    assert_eq!(counts, recounted, "{n}, {kernel}, {pass} count, {limits:?}");
                }
            }
        }
    }
}

/// Counts the units of a batch, and returns the counts if there was no interrupt.
fn count_all(counter: &mut ColoursCounter<'_>, units: Range<usize>) -> Vec<u64> {
    let mut counts = Vec::new();
    let counted = counter.count_batch(units, &Cancel::new(), &mut counts);
    assert_eq!(counted, Ok(()));
    counts
}

/// Counts the units of a batch, and cancels the count after some time. Returns the counts that were finished.
fn count_for(counter: &mut ColoursCounter<'_>, units: Range<usize>, time: Duration) -> Vec<u64> {
    let begun = Instant::now();
    let cancel = Cancel::new();
    let mut counts = Vec::new();
    let counted = thread::scope(|scope| {
        scope.spawn(|| {
            while begun.elapsed() < time {}
            cancel.cancel();
        });
        counter.count_batch(units.clone(), &cancel, &mut counts)
    });
    let wanted = if counts.len() == units.len() { Ok(()) } else { Err(Interrupt::Cancelled) };
    assert_eq!(counted, wanted, "{} of {} units", counts.len(), units.len());
    counts
}

/// A counter that was stopped, within a batch, a stretch or a part, continues as if it had not been stopped.
#[test]
fn a_stopped_counter_counts_what_another_one_counts() {
    let colours = Colours::new(size(18));
    let limits = Limits {
        part_len: 5000,
        light_part_len: 1700,
        stretch_words: 2000,
        ..Limits::new(size(18))
    };
    let new = |pass| ColoursCounter::new(&colours.units, Kernel::detect(), pass, limits);
    let which_counts = [Pass::First, Pass::Second];
    let mut all_stopped = which_counts.map(new);
    let mut random = random();
    for round in 0..40 {
        let first = random.usize(..colours.len());
        let units = first..colours.units.batch(first).units.end;
        let whole = count_all(&mut new(which_counts[round % 2]), units.clone());
        let stopped = &mut all_stopped[round % 2];
        let finished = count_for(stopped, units.clone(), Duration::from_micros(round as u64 * 60));
        assert!(whole.starts_with(&finished), "{finished:?} of {whole:?}");
        assert_eq!(count_all(stopped, units), whole);
    }
}

/// The units of a batch are counted one by one, as on large boards. Cancellations come at random moments, until one
/// comes after the first unit and before the last one.
#[test]
fn a_stopped_batch_gives_the_units_that_are_finished() {
    let colours = Colours::new(size(20));
    let limits = Limits { matrix_rows: 1, ..Limits::new(size(20)) };
    let mut counter = ColoursCounter::new(&colours.units, Kernel::detect(), Pass::First, limits);
    let units = (0..colours.len())
        .map(|unit| colours.units.batch(unit).units)
        .max_by_key(ExactSizeIterator::len)
        .expect("there are units");
    assert!(units.len() >= 10, "{units:?}");
    let begun = Instant::now();
    let whole = count_all(&mut counter, units.clone());
    let longest = begun.elapsed();
    let mut random = random();
    for _ in 0..1000 {
        let time = longest.mul_f64(random.f64());
        let finished = count_for(&mut counter, units.clone(), time);
        assert!(whole.starts_with(&finished), "{finished:?} of {whole:?}");
        if !finished.is_empty() && finished.len() < whole.len() {
            return;
        }
    }
    panic!("no cancellation came within the batch");
}

/// The first list has nearly all rows in the centre. Other lists follow on the same `List`.
#[test]
fn a_list_has_each_placement_once() {
    let size = size(26);
    let cancel = Cancel::new();
    let [board, _] = sub_boards(size, Colour::Black, Pass::First);
    let mut zones = Zones::new(board.clone());
    let mut list = List::new(&zones, 64);
    for rows in [0x3f8, 0x3f1, 0x2f8, 0x1c07] {
        let labels =
            || (0..1 << 13).filter(|label: &u32| 13 - label.count_ones() == u32::count_ones(rows));
        list.begin(&mut zones, rows, 0x1c07, labels(), &cancel).expect("in time");
        list.list_all(Kernel::detect(), &cancel).expect("in time");
        let mut listed = Vec::new();
        for block in list.blocks() {
            let tag = |word: &u64| (word >> LABEL_SHIFT) as usize;
            let untagged = |word: &u64| word & ((1 << LABEL_SHIFT) - 1);
            let words = block.words.own().iter();
            let columns = |word: &u64| board.columns_of(block.labels[tag(word)]);
            listed.extend(words.map(|word| (columns(word), untagged(word))));
        }
        let mut placed = Vec::new();
        let mut tree = Tree::new(&Arc::new(board.clone()));
        tree.begin_rows(rows);
        tree.each_placement(&cancel, &mut |columns, word| placed.push((columns, word)));
        listed.sort_unstable();
        placed.sort_unstable();
        assert_eq!(listed.len(), placed.len(), "rows {rows:x}");
        assert!(listed == placed, "rows {rows:x}");
    }
}

/// In a batch the units before the one whose entry is too large are counted, and this one is named, as if each unit
/// were counted by itself.
#[test]
fn an_entry_that_is_too_large_is_an_error_of_its_own_unit() {
    let colours = Colours::new(size(13));
    let limits = Limits { largest_entry: 1, ..Limits::new(size(13)) };
    let mut counter = ColoursCounter::new(&colours.units, Kernel::detect(), Pass::First, limits);
    let mut batches_in_part = 0;
    let mut unit = 0;
    while unit < colours.len() {
        let units = colours.units.batch(unit).units;
        let mut counts = Vec::new();
        let counted = counter.count_batch(units.clone(), &Cancel::new(), &mut counts);
        let mut one_by_one = Vec::new();
        let mut ended = Ok(());
        for unit in units.clone() {
            match counter.count(unit, &Cancel::new()) {
                Ok(count) => one_by_one.push(count),
                Err(interrupt) => {
                    ended = Err(interrupt);
                    break;
                }
            }
        }
        assert_eq!((counts, counted), (one_by_one.clone(), ended), "{units:?}");
        if ended == Err(Interrupt::Overflow) && !one_by_one.is_empty() {
            batches_in_part += 1;
        }
        unit = units.end;
    }
    assert!(batches_in_part > 0, "no batch has a large entry behind its first unit");
}

/// Without room for an entry there is no count: never a wrong one.
#[test]
fn an_entry_that_is_too_large_is_an_error() {
    let colours = Colours::new(size(13));
    let limits = Limits { largest_entry: 1, ..Limits::new(size(13)) };
    for kernel in kernels() {
        let mut counter = ColoursCounter::new(&colours.units, kernel, Pass::First, limits);
        let counts = (0..colours.len()).map(|unit| counter.count(unit, &Cancel::new()));
        let found = counts.filter(|count| *count == Err(Interrupt::Overflow)).count();
        assert!(found > 0, "{kernel}: entries of 2");
    }
}

/// A search over all squares found these numbers of solutions with 1, 3, 5, .. white queens, and with 0, 2, 4, ..
/// white queens.
#[test]
fn each_number_of_white_queens_has_its_solutions() {
    let of_nine = [0, 48, 304, 0, 0];
    let of_sixteen = [0, 0, 76, 1_143_066, 12_486_228, 1_143_066, 76, 0, 0];
    for (n, expected) in [(9, &of_nine[..]), (16, &of_sixteen)] {
        let colours = Colours::new(size(n));
        let mut twice = vec![0; expected.len()];
        let mut counter = colours.counter(Pass::First, Kernel::detect());
        for unit in 0..colours.len() {
            let count = counter.count(unit, &Cancel::new()).expect("small");
            let place = colours.units.batch(unit).a as usize - n as usize % 2;
            // If n is even, half of what the unit stands for has exchanged the colours.
            let other = if n % 2 == 1 { place } else { expected.len() - 1 - place };
            for place in [place, other] {
                twice[place] += colours.weight(unit) * count;
            }
        }
        let solutions: Vec<u64> = twice.iter().map(|twice| twice / 2).collect();
        assert_eq!(solutions, expected);
    }
}
