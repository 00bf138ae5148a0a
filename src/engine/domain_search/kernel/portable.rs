//! Plain words, for any CPU.

use super::super::fillings::Filling;
use super::{EMPTY, Set};

pub(super) fn count(pairs: &[[Set; 256]], counting: &[[Set; 2]], list: &[Filling]) -> [u64; 2] {
    let mut found = [0; 2];
    for filling in list {
        let mut fits = Set(EMPTY.0.map(|word| !word));
        for (sets, pair) in pairs.iter().zip(filling.pairs) {
            fits = fits.and(&sets[usize::from(pair)]);
        }
        for (counting, found) in counting[usize::from(filling.northern)].iter().zip(&mut found) {
            let fits = fits.and(counting);
            // Most sets are empty, and counting bits is slow without an instruction for it.
            if fits.0.iter().fold(0, |any, word| any | word) != 0 {
                *found += fits.0.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
            }
        }
    }
    found
}
