//! The loops of a leaf, of coefficients and of lists. A macro defines them for each kernel, because functions are
//! inlined only into functions that are compiled for the same instructions.

/// Runs an expression on groups that have this number of completions each. Each number has a copy of the expression, in
/// which a group is an array of a known length, because loops over such arrays are unrolled.
macro_rules! of_length {
    ($completions:expr, $groups:ident => $body:expr) => {
        of_length!($completions, $groups => $body, 1 2 3 4 5 6 7 8)
    };
    ($completions:expr, $groups:ident => $body:expr, $($each:literal)*) => {
        const { assert!([$($each),*].len() == MAX_GROUP, "an arm for each length") };
        match $completions {
            $($each => {
                const { assert!($each <= MAX_GROUP, "its hits might not fit a byte") };
                let ($groups, rest) = $groups.as_chunks::<{ group_len($each) }>();
                assert!(rest.is_empty(), "whole groups");
                $body
            })*
            completions => unreachable!("a group of {completions} completions"),
        }
    };
}

/// Defines the loops of a kernel.
macro_rules! loops {
    ($(#[$compiled:meta])*) => {
        use super::{
            Bytes, DIGITS, Numbers, Layer, LeafCode, LeafScratch, MAX_GROUP, Open, OFFSET_SCALE,
            LabelPairs, MatrixRows, Planes, PLANES, TILE, Totals, Coefficients, Words, group_len, unpack, chunks, chunks_mut,
            pieces,
        };

        /// Adds the hits of each lane to the entries in the rows of each row set.
        $(#[$compiled])*
        pub(super) fn count_leaf(
            leaf: &LeafCode<'_>,
            words: Words<'_>,
            matrix_rows: &MatrixRows,
            entries: &mut [Numbers],
            scratch: &mut LeafScratch,
        ) {
            let LeafScratch { lanes, lane_maps, indices, planes, open } = scratch;
            lanes.cut::<LANES>(words);
            for layer in lanes.layers() {
                open_all(leaf, words, &layer, planes, open);
                if let Some(first_label) = layer.first_label {
                    count_layer(leaf, matrix_rows, entries, open, |entries, hits| {
                        let of_layers = chunks_mut(&mut entries.0);
                        add_hits_in_order(&mut of_layers[first_label / LANES % of_layers.len()], hits);
                    });
                    continue;
                }
                layer.map_labels_to_lanes(lane_maps);
                indices.clear();
                for lane_map in &*lane_maps {
                    indices.extend(index_of_lanes(lane_map));
                }
                count_layer(leaf, matrix_rows, entries, open, |entries, hits| {
                    add_hits(entries, hits, indices.as_chunks().0, layer.labels);
                });
            }
        }

        /// Adds the hits of a layer to the entries. `add_hits` knows the label of each lane.
        $(#[$compiled])*
        #[inline]
        fn count_layer(
            leaf: &LeafCode<'_>,
            matrix_rows: &MatrixRows,
            entries: &mut [Numbers],
            open: &Open,
            add_hits: impl Fn(&mut Numbers, Vector),
        ) {
            for (set_number, section) in pieces(leaf.sections) {
                let Some(rows) = &matrix_rows[set_number] else { continue };
                let entries = &mut entries[rows.clone()];
                for (completions, groups) in pieces(section) {
                    of_length!(completions, groups => for group in groups {
                        let (label, hits) = hits(group, open);
                        add_hits(&mut entries[label], hits);
                    });
                }
            }
        }

        /// Adds the hits of each lane, times its coefficient in the rows of each row set, to the totals of the set.
        $(#[$compiled])*
        pub(super) fn sum_leaf(
            leaf: &LeafCode<'_>,
            words: Words<'_>,
            matrix_rows: &MatrixRows,
            coefficients: &Coefficients,
            totals: &mut [Totals],
            scratch: &mut LeafScratch,
        ) {
            // Two loops are compiled, because a question in the only one would cost time on every group.
            if SKIPS_GROUPS && coefficients.are_of_rare_hits {
                sum_layers::<true>(leaf, words, matrix_rows, coefficients, totals, scratch);
            } else {
                sum_layers::<false>(leaf, words, matrix_rows, coefficients, totals, scratch);
            }
        }

        /// Does what [`sum_leaf`] does. If `SKIPS`, a group without hits with a layer ends as soon as that is known.
        $(#[$compiled])*
        #[inline]
        fn sum_layers<const SKIPS: bool>(
            leaf: &LeafCode<'_>,
            words: Words<'_>,
            matrix_rows: &MatrixRows,
            coefficients: &Coefficients,
            totals: &mut [Totals],
            scratch: &mut LeafScratch,
        ) {
            let LeafScratch { lanes, planes, open, .. } = scratch;
            lanes.cut::<LANES>(words);
            for layer in lanes.layers() {
                open_all(leaf, words, &layer, planes, open);
                if let Some(first_label) = layer.first_label {
                    sum_layer::<SKIPS>(leaf, matrix_rows, coefficients, totals, open, |sums, hits, coefficients| {
                        let of_layers = chunks(&coefficients.0);
                        let of_lanes = &of_layers[first_label / LANES % of_layers.len()];
                        add_products_in_order(sums, hits, of_lanes)
                    });
                    continue;
                }
                let labels = index_of_labels(layer.labels);
                sum_layer::<SKIPS>(leaf, matrix_rows, coefficients, totals, open, |sums, hits, coefficients| {
                    add_products(sums, hits, coefficients, &labels)
                });
            }
        }

        /// Adds the hits of a layer times their coefficients to the totals. `add_products` knows the label of each
        /// lane.
        $(#[$compiled])*
        #[inline]
        fn sum_layer<const SKIPS: bool>(
            leaf: &LeafCode<'_>,
            matrix_rows: &MatrixRows,
            coefficients: &Coefficients,
            totals: &mut [Totals],
            open: &Open,
            add_products: impl Fn(Sums, Vector, &Bytes) -> Sums,
        ) {
            for (set_number, section) in pieces(leaf.sections) {
                let Some(rows) = &matrix_rows[set_number] else { continue };
                let [lowest_digits, upper_digits @ ..] = &coefficients.digits;
                let lowest_digits = &lowest_digits[rows.clone()];
                let upper_len = &coefficients.upper_digits_len[rows.clone()];
                let mut lowest = zero();
                let mut upper = [zero(); DIGITS - 1];
                for (completions, groups) in pieces(section) {
                    of_length!(completions, groups => for group in groups {
                        if SKIPS && !has_hits(group, open) {
                            continue;
                        }
                        let (label, hits) = hits(group, open);
                        lowest = add_products(lowest, hits, &lowest_digits[label]);
                        for (sum, digits) in upper.iter_mut().zip(upper_digits).take(upper_len[label].into()) {
                            *sum = add_products(*sum, hits, &digits[rows.start + label]);
                        }
                    });
                }
                let [lowest_totals, upper_totals @ ..] = &mut totals[set_number];
                widen(lowest, lowest_totals);
                for (sum, totals) in upper.into_iter().zip(upper_totals) {
                    widen(sum, totals);
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

        /// Makes a digit of the coefficients from a block of the light matrix, quarter by quarter: entries are
        /// multiplied by multiplicities, cut to bytes, then transposed.
        #[expect(clippy::cast_possible_truncation, reason = "a digit is the lowest byte")]
        $(#[$compiled])*
        pub(super) fn make_digits(
            pairs: &LabelPairs<'_>,
            shift: u32,
            mask: u8,
            to: &mut [Bytes],
            to_rows: &[usize],
        ) -> u16 {
            let mut largest = [0; TILE];
            for (quarter, to_rows) in to_rows.chunks(TILE).enumerate() {
                let mut tile = [Bytes([0; 4 * TILE]); TILE];
                for (place, (row, factors)) in pairs.rows.iter().zip(pairs.multiplicities).enumerate() {
                    let entries: &[u16; TILE] = &chunks(&pairs.entries[*row].0)[quarter];
                    let factors: &[u16; TILE] = &chunks(&factors.0)[quarter];
                    largest = std::array::from_fn(|at| largest[at].max(entries[at]));
                    let digits: &mut [u8; TILE] = &mut chunks_mut(&mut tile[place % TILE].0)[place / TILE];
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
                for (to_row, bytes) in to_rows.iter().zip(&tile) {
                    to[*to_row] = *bytes;
                }
            }
            largest.into_iter().fold(0, u16::max)
        }

        /// Returns the label of a group, and its hits with each lane.
        $(#[$compiled])*
        #[inline]
        fn hits<const LEN: usize>(group: &[u32; LEN], open: &Open) -> (usize, Vector) {
            let [label, first, others @ ..] = group.as_slice() else {
                unreachable!("a label and completions")
            };
            let mut hits = hits_of(*first, open);
            for completion in others {
                hits = add(hits, hits_of(*completion, open));
            }
            (*label as usize, hits)
        }

        /// Returns whether a group has a hit with any lane.
        $(#[$compiled])*
        #[inline]
        fn has_hits<const LEN: usize>(group: &[u32; LEN], open: &Open) -> bool {
            let [_label, first, others @ ..] = group.as_slice() else {
                unreachable!("a label and completions")
            };
            let mut words = words_of(*first, open);
            for completion in others {
                words = or(words, words_of(*completion, open));
            }
            !is_zero(words)
        }

        /// Returns the hits of a completion with each lane: the number of the lane's words that fit it.
        $(#[$compiled])*
        #[inline]
        fn hits_of(completion: u32, open: &Open) -> Vector {
            bit_counts(words_of(completion, open))
        }

        /// Returns the words that fit a completion: those that both halves leave open.
        $(#[$compiled])*
        #[inline]
        fn words_of(completion: u32, open: &Open) -> Vector {
            let [one, other] = unpack(completion);
            and(load(open.at(one)), load(open.at(other)))
        }

        /// Finds the words of a layer that each square and each combination of a leaf leaves open.
        $(#[$compiled])*
        fn open_all(
            leaf: &LeafCode<'_>,
            words: Words<'_>,
            layer: &Layer<'_, LANES>,
            planes: &mut Planes,
            open: &mut Open,
        ) {
            let planes = planes.of_layer();
            transpose_words(words, layer.starts, planes);
            *open.at_mut(0) = *layer.present;
            let all = load(layer.present);
            let mut offset = OFFSET_SCALE;
            for square in leaf.squares {
                let [sum, difference] = unpack(*square);
                let left = open_of(all, load(&planes[sum]), load(&planes[difference]));
                store(open.at_mut(offset), left);
                offset += OFFSET_SCALE;
            }
            for combination in leaf.combinations {
                let [one, other] = unpack(*combination);
                let both = and(load(open.at(one)), load(open.at(other)));
                store(open.at_mut(offset), both);
                offset += OFFSET_SCALE;
            }
        }
    };
}
