//! Comparing every number that a command prints with the published one.

use std::fmt::Display;

use crate::{Agreement, BoardSize, Classes, PublishedCounts};

use crate::cli::stderr::message;

/// A computed number, with the number that is published for it.
#[derive(Debug, PartialEq, Eq)]
struct Pair {
    /// The computed number as a message names it: `Q(8) = 92`.
    text: String,
    computed: u128,
    published: Option<u128>,
}

/// Compares the total of a board, and the numbers of its classes if they were counted, with the published numbers.
/// Prints the numbers that differ. Returns the verdict on the total, unless another number differs.
pub(crate) fn verdict(size: BoardSize, total: u128, classes: Option<&Classes>) -> Agreement {
    let pairs = pairs(size, total, classes, size.published());
    let mut verdict = Agreement::compare(pairs[0].computed, pairs[0].published);
    for Pair { text, computed, published } in pairs {
        let compared = Agreement::compare(computed, published);
        if let Agreement::Differs { expected } = compared {
            print_differs(text, expected);
            verdict = compared;
        }
    }
    verdict
}

/// Prints that a number (`Q(8) = 93`) differs from the published one.
pub(crate) fn print_differs(computed: impl Display, published: u128) {
    message!("{computed} differs from the published {published}: one of them is wrong");
}

/// Returns the total first, then all other numbers.
fn pairs(
    size: BoardSize,
    total: u128,
    classes: Option<&Classes>,
    known: PublishedCounts,
) -> Vec<Pair> {
    let mut numbers = vec![("Q", total, known.total)];
    if let Some(classes) = classes {
        numbers.push(("fundamental", classes.fundamental(), known.fundamental));
        // On smaller boards, the only solution has no other image.
        if size.get() >= 2 {
            let quarter_turn = 2 * classes.of_two;
            let half_turn = 4 * classes.of_four + quarter_turn;
            numbers.push(("half-turn", half_turn, known.half_turn));
            numbers.push(("quarter-turn", quarter_turn, known.quarter_turn));
            numbers.push(("asymmetric", classes.of_eight, known.asymmetric));
        }
    }
    let mut pairs = Vec::new();
    for (name, computed, published) in numbers {
        let text = format!("{name}({size}) = {computed}");
        pairs.push(Pair { text, computed, published });
    }
    pairs
}

#[cfg(test)]
mod tests {
    use crate::Cancel;

    use super::*;

    #[test]
    fn every_published_number_is_compared() {
        for n in 0..=12 {
            let size = BoardSize::new(n).expect("in range");
            let total = size.published().total.expect("published");
            let classes = Classes::count(size, total, &Cancel::new()).expect("it fits");
            assert_eq!(verdict(size, total, Some(&classes)), Agreement::Agrees, "n = {n}");
            let pairs = pairs(size, total, Some(&classes), size.published());
            // Nothing but the total is published for the empty board.
            let published = pairs.iter().filter(|pair| pair.published.is_some()).count();
            assert_eq!(published, if n == 0 { 1 } else { pairs.len() }, "n = {n}");
        }
    }

    /// One class of four more and half a class of eight less, as a wrong count of half-turns would give.
    #[test]
    fn a_wrong_number_of_classes_differs_although_the_total_agrees() {
        let size = BoardSize::new(8).expect("in range");
        let mut classes = Classes::count(size, 92, &Cancel::new()).expect("it fits");
        classes.of_four += 2;
        classes.of_eight -= 1;
        assert_eq!(verdict(size, 92, Some(&classes)), Agreement::Differs { expected: 11 });
        let differing = pairs(size, 92, Some(&classes), size.published());
        let differing = differing.iter().filter(|pair| Some(pair.computed) != pair.published);
        let texts: Vec<&str> = differing.map(|pair| pair.text.as_str()).collect();
        assert_eq!(texts, ["fundamental(8) = 13", "half-turn(8) = 12", "asymmetric(8) = 10"]);
    }

    #[test]
    fn a_total_that_differs_decides() {
        let size = BoardSize::new(8).expect("in range");
        assert_eq!(verdict(size, 90, None), Agreement::Differs { expected: 92 });
        let unpublished = BoardSize::new(30).expect("in range");
        assert_eq!(verdict(unpublished, 90, None), Agreement::Unknown);
    }
}
