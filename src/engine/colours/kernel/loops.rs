//! The loops of a leaf, of coefficients and of lists. A macro defines them for each kernel, because functions are
//! inlined only into functions that are compiled for the same instructions.

/// Runs an expression on groups, as arrays of the length that belongs to their number of items.
macro_rules! of_length {
    ($items:expr, |$groups:ident| $body:expr, $($each:literal)*) => {
        const { assert!([$($each),*].len() == MAX_GROUP, "an arm for each length") };
        match $items {
            $($each => {
                const { assert!($each <= MAX_GROUP, "its hits might not fit a byte") };
                let ($groups, rest) = $groups.as_chunks::<{ 1 + $each }>();
                assert!(rest.is_empty(), "whole groups");
                $body
            })*
            items => unreachable!("a group of {items} items"),
        }
    };
}

/// Defines the loops of a kernel.
macro_rules! loops {
    ($(#[$compiled:meta])*) => {
        use super::{
            Bytes, DIGITS, Entries, LANES, Layer, LeafCode, LeafScratch, MAX_GROUP, Open, OFFSET_SCALE,
            Pairs, Planes, RowsOfSets, TILE, Totals, Coefficients, Words, unpack, pieces, pieces_mut,
            records,
        };

        /// Adds the hits of each lane to the entries in the rows of each row set.
        $(#[$compiled])*
        pub(super) fn count_leaf(
            leaf: &LeafCode<'_>,
            words: Words<'_>,
            rows: &RowsOfSets,
            entries: &mut [Entries],
            scratch: &mut LeafScratch,
        ) {
            let LeafScratch { lanes, turns, indices, planes, open } = scratch;
            lanes.cut(words);
            for layer in lanes.layers() {
                open_all(leaf, words, &layer, planes, open);
                layer.turns(turns);
                indices.clear();
                for lanes in &*turns {
                    indices.extend(index(lanes));
                }
                for (set, section) in records(leaf.sections) {
                    let Some(rows) = &rows[set] else { continue };
                    let entries = &mut entries[rows.clone()];
                    for (items, groups) in records(section) {
                        of_length!(items, |groups| for group in groups {
                            let (label, hits) = hits(group, open);
                            add_hits(&mut entries[label], hits, indices.as_chunks().0, &layer.labels);
                        }, 1 2 3 4 5 6 7 8);
                    }
                }
            }
        }

        /// Adds the hits of each lane, times its coefficient in the rows of each row set, to the totals of the set.
        $(#[$compiled])*
        pub(super) fn sum_leaf(
            leaf: &LeafCode<'_>,
            words: Words<'_>,
            rows: &RowsOfSets,
            coefficients: &Coefficients,
            totals: &mut [Totals],
            scratch: &mut LeafScratch,
        ) {
            let LeafScratch { lanes, planes, open, .. } = scratch;
            lanes.cut(words);
            for layer in lanes.layers() {
                open_all(leaf, words, &layer, planes, open);
                let labels = index(&layer.labels);
                for (set, section) in records(leaf.sections) {
                    let Some(rows) = &rows[set] else { continue };
                    let [lowest_digits, upper_digits @ ..] = &coefficients.digits;
                    let lowest_digits = &lowest_digits[rows.clone()];
                    let upper_len = &coefficients.upper_digits_len[rows.clone()];
                    let mut lowest = zero();
                    let mut upper = [zero(); DIGITS - 1];
                    for (items, groups) in records(section) {
                        of_length!(items, |groups| for group in groups {
                            let (label, hits) = hits(group, open);
                            lowest = add_products(lowest, hits, &lowest_digits[label], &labels);
                            for (sum, digits) in upper.iter_mut().zip(upper_digits).take(upper_len[label].into()) {
                                *sum = add_products(*sum, hits, &digits[rows.start + label], &labels);
                            }
                        }, 1 2 3 4 5 6 7 8);
                    }
                    let [lowest_totals, upper_totals @ ..] = &mut totals[set];
                    widen(lowest, lowest_totals);
                    for (sum, totals) in upper.into_iter().zip(upper_totals) {
                        widen(sum, totals);
                    }
                }
            }
        }

        /// Joins each word of `ones` with each of `words` that shares no diagonal with it.
        #[expect(clippy::cast_possible_truncation, reason = "eight bits for eight words")]
        $(#[$compiled])*
        pub(super) fn join(ones: &[u64], words: Words<'_>, joined: &mut [u64]) -> usize {
            let (whole, rest) = words.own().as_chunks();
            let last = words.padded[words.len - rest.len()..].first_chunk().expect("slack");
            let mask_of_rest = !(u64::MAX << rest.len()) as u8;
            let mut len = 0;
            for one in ones {
                for eight in whole {
                    let room = joined[len..].first_chunk_mut().expect("room for all and eight more");
                    len += join_eight(*one, eight, u8::MAX, room);
                }
                let room = joined[len..].first_chunk_mut().expect("room for all and eight more");
                len += join_eight(*one, last, mask_of_rest, room);
            }
            len
        }

        /// Makes the coefficients from a block of the light matrix, quarter by quarter: entries are multiplied by
        /// multiplicities, cut to bytes, then transposed.
        #[expect(clippy::cast_possible_truncation, reason = "a digit is the lowest byte")]
        $(#[$compiled])*
        pub(super) fn make_coefficients(
            pairs: &Pairs<'_>,
            shift: u32,
            mask: u8,
            to: &mut [Bytes],
            rows: &[usize],
        ) -> u16 {
            let mut largest = [0; TILE];
            for (quarter, rows) in rows.chunks(TILE).enumerate() {
                let mut tile = [Bytes([0; 4 * TILE]); TILE];
                for (place, (row, factors)) in pairs.rows.iter().zip(pairs.multiplicities).enumerate() {
                    let entries: &[u16; TILE] = &pieces(&pairs.entries[*row].0)[quarter];
                    let factors: &[u16; TILE] = &pieces(&factors.0)[quarter];
                    largest = std::array::from_fn(|at| largest[at].max(entries[at]));
                    let digits: &mut [u8; TILE] = &mut pieces_mut(&mut tile[place % TILE].0)[place / TILE];
                    *digits = if shift == 0 {
                        // The lowest byte of a product needs only 16 bits.
                        std::array::from_fn(|at| entries[at].wrapping_mul(factors[at]) as u8 & mask)
                    } else {
                        std::array::from_fn(|at| {
                            let coefficient = u32::from(entries[at]) * u32::from(factors[at]);
                            (coefficient >> shift) as u8 & mask
                        })
                    };
                }
                transpose_quarters(&mut tile);
                for (row, bytes) in rows.iter().zip(&tile) {
                    to[*row] = *bytes;
                }
            }
            largest.into_iter().fold(0, u16::max)
        }

        /// Returns the label of a group, and its hits with each lane.
        $(#[$compiled])*
        #[inline]
        fn hits<const WORDS: usize>(group: &[u32; WORDS], open: &Open) -> (usize, Vector) {
            let [label, first, others @ ..] = group.as_slice() else {
                unreachable!("a label and items")
            };
            let mut hits = hits_of(*first, open);
            for item in others {
                hits = add(hits, hits_of(*item, open));
            }
            (*label as usize, hits)
        }

        /// Returns the hits of an item with each lane: the number of the lane's words that both halves leave open.
        $(#[$compiled])*
        #[inline]
        fn hits_of(item: u32, open: &Open) -> Vector {
            let [one, other] = unpack(item);
            bit_counts(and(load(open.at(one)), load(open.at(other))))
        }

        /// Finds the words of a layer that each square and each pair of a leaf leaves open.
        $(#[$compiled])*
        fn open_all(
            leaf: &LeafCode<'_>,
            words: Words<'_>,
            layer: &Layer<'_>,
            planes: &mut Planes,
            open: &mut Open,
        ) {
            transpose_words(words, layer.starts, planes);
            *open.at_mut(0) = layer.present.0;
            let all = load(&layer.present.0);
            let mut offset = OFFSET_SCALE;
            for square in leaf.squares {
                let [sum, difference] = unpack(*square);
                let left = open_of(all, load(&planes[sum].0), load(&planes[difference].0));
                store(open.at_mut(offset), left);
                offset += OFFSET_SCALE;
            }
            for pair in leaf.pairs {
                let [one, other] = unpack(*pair);
                let both = and(load(open.at(one)), load(open.at(other)));
                store(open.at_mut(offset), both);
                offset += OFFSET_SCALE;
            }
        }
    };
}
