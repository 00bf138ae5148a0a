//! The loops of the vector kernels, made for each of them from its own vectors.
//!
//! A vector kernel is a module with a type `Vector` of `WORDS` words and these operations, in which
//! sets of lanes are numbers with a bit for each of them:
//!
//! | operation | result |
//! |---|---|
//! | `splat(word)` | the word in each lane |
//! | `and(a, b)`, `or(a, b)` | the bits of both, of either |
//! | `load_part(words)` | up to `WORDS` words, and the lanes that hold them |
//! | `disjoint_lanes(a, b)` | the lanes in which two vectors share no bit |
//! | `disjoint_among(lanes, a, b)` | those of these lanes in which they share none |
//! | `to_front(lanes, vector)` | these lanes first, then the others |
//! | `compress(lanes, vector)` | these lanes first, then anything |
//! | `move_bits(image, vector, bit_move)` | the image with the bits that move equally far |
//! | `inverted_halves::<HIGH>(a, b)` | the low or the high halves of the words of both, inverted |
//! | `swap_squares::<SHIFT>(rows, distance, low)` | one step of a transposition |
//! | `count_probes::<CHUNKS>(probe, tables)` | the pairs of one block of the leaf |
//! | `positional_popcount(sample)` | for each bit, the words that have it |
//!
//! Functions compiled for CPU features cannot be generic over them, so a macro writes the loops.
//! Arithmetic on vectors is safe in such functions; loads and stores take references.

/// Defines the loops of a kernel, compiled for these CPU features, with the tables of its width.
macro_rules! vector_kernel {
    ($features:literal, $width:ident) => {
        #[target_feature(enable = $features)]
        pub(super) fn select(words: &[u64], avoid: u64, out: &mut [u64]) -> usize {
            let mut room = Room::<WORDS>::new(out);
            let avoid = splat(avoid);
            let mut kept = 0;
            let (vectors, rest) = words.as_chunks::<WORDS>();
            for vector in vectors {
                let vector = load(vector);
                let free = disjoint_lanes(vector, avoid);
                room.fetch_after(kept);
                store(room.at(kept), compress(free, vector));
                kept += free.count_ones() as usize;
            }
            if !rest.is_empty() {
                let (vector, lanes) = load_part(rest);
                let free = disjoint_among(lanes, vector, avoid);
                store(room.at(kept), compress(free, vector));
                kept += free.count_ones() as usize;
            }
            kept
        }

        #[target_feature(enable = $features)]
        pub(super) fn add_squares(
            lists: &[(&[u64], u64)],
            avoid: u64,
            moves: &[BitMove; 2],
            out: &mut [u64],
        ) -> usize {
            let mut room = Room::<WORDS>::new(out);
            let [first, second] = moves;
            let zero = splat(0);
            let mut kept = 0;
            for &(words, square) in lists {
                let (avoid, square) = (splat(avoid | square), splat(square));
                let longer = |vector| {
                    let vector = or(vector, square);
                    move_bits(move_bits(zero, vector, first), vector, second)
                };
                let (vectors, rest) = words.as_chunks::<WORDS>();
                for vector in vectors {
                    let vector = load(vector);
                    let free = disjoint_lanes(vector, avoid);
                    store(room.at(kept), compress(free, longer(vector)));
                    kept += free.count_ones() as usize;
                }
                if !rest.is_empty() {
                    let (vector, lanes) = load_part(rest);
                    let free = disjoint_among(lanes, vector, avoid);
                    store(room.at(kept), compress(free, longer(vector)));
                    kept += free.count_ones() as usize;
                }
            }
            kept
        }

        #[target_feature(enable = $features)]
        pub(super) fn multiply(lists: [&[u64]; 2], groups: &[Group], out: &mut [u64]) -> usize {
            let mut room = Room::<WORDS>::new(out);
            let mut kept = 0;
            for group in groups {
                let [north, south] = group.words(lists);
                let (short, long) =
                    if north.len() <= south.len() { (north, south) } else { (south, north) };
                let (vectors, rest) = long.as_chunks::<WORDS>();
                let (last, last_lanes) = load_part(rest);
                for &word in short {
                    let word = splat(word);
                    room.fetch_after(kept);
                    for vector in vectors {
                        let vector = load(vector);
                        let free = disjoint_lanes(vector, word);
                        store(room.at(kept), compress(free, or(vector, word)));
                        kept += free.count_ones() as usize;
                    }
                    if last_lanes != 0 {
                        let free = disjoint_among(last_lanes, last, word);
                        store(room.at(kept), compress(free, or(last, word)));
                        kept += free.count_ones() as usize;
                    }
                }
            }
            kept
        }

        #[target_feature(enable = $features)]
        pub(super) fn gather(
            lists: [&[u64]; 2],
            groups: &[Group],
            out: &mut [u64],
            copies: &mut Vec<Group>,
        ) -> usize {
            let mut room = Room::<WORDS>::new(out);
            let mut end = 0;
            for group in groups {
                let starts = group.words(lists).map(|words| {
                    let start = end;
                    let (vectors, rest) = words.as_chunks::<WORDS>();
                    for (at, vector) in vectors.iter().enumerate() {
                        store(room.at(start + at * WORDS), load(vector));
                    }
                    if !rest.is_empty() {
                        store(room.at(start + vectors.len() * WORDS), load_part(rest).0);
                    }
                    end += words.len();
                    start as u32
                });
                copies.push(Group { north: starts[0], south: starts[1], ..*group });
            }
            end
        }

        #[target_feature(enable = $features)]
        pub(super) fn split_groups(
            lists: [&mut [u64]; 2],
            groups: &mut Vec<Group>,
            range: Range<usize>,
            bit: u64,
            scratch: &mut [u64],
            with: &mut Vec<Group>,
        ) {
            let [north, south] = lists;
            for at in range {
                let group = groups[at];
                let words = &mut north[group.north as usize..][..group.north_len as usize];
                let northern = partition_in_place(words, bit, scratch);
                let words = &mut south[group.south as usize..][..group.south_len as usize];
                let southern = partition_in_place(words, bit, scratch);
                group.push_parts(northern, southern, groups, with);
            }
        }

        /// Moves the words without `bit` to the front, and returns how many there are.
        #[inline]
        #[target_feature(enable = $features)]
        fn partition_in_place(words: &mut [u64], bit: u64, scratch: &mut [u64]) -> usize {
            let mut room = Room::<WORDS>::new(scratch);
            let whole = words.len() / WORDS;
            let (mut front, mut back) = (0, 0);
            let bits = splat(bit);
            for at in 0..whole {
                let vector = load(&words.as_chunks::<WORDS>().0[at]);
                let lacks = disjoint_lanes(vector, bits);
                let count = lacks.count_ones() as usize;
                // The words in front of the vector have all been read.
                if let Some(place) = words[front..].first_chunk_mut::<WORDS>() {
                    store(place, to_front(lacks, vector));
                }
                store(room.at(back), to_front(!lacks, vector));
                front += count;
                back += WORDS - count;
            }
            for at in whole * WORDS..words.len() {
                let word = words[at];
                // The word is written to both places; the wrong copy is overwritten later.
                words[front] = word;
                scratch[back] = word;
                let has = usize::from(word & bit != 0);
                front += 1 - has;
                back += has;
            }
            let (vectors, rest) = words[front..].as_chunks_mut::<WORDS>();
            for (vector, kept) in vectors.iter_mut().zip(scratch.as_chunks::<WORDS>().0) {
                store(vector, load(kept));
            }
            for (word, &kept) in rest.iter_mut().zip(&scratch[back / WORDS * WORDS..]) {
                *word = kept;
            }
            front
        }

        #[target_feature(enable = $features)]
        pub(super) fn permute_bits(words: &mut [u64], order: &BitOrder) {
            let permuted = |vectors: &mut [Vector]| {
                let mut images = [splat(0); 4];
                for bit_move in order.moves() {
                    for (image, &vector) in images.iter_mut().zip(&*vectors) {
                        *image = move_bits(*image, vector, bit_move);
                    }
                }
                vectors.copy_from_slice(&images[..vectors.len()]);
            };
            let (groups, rest) = words.as_chunks_mut::<{ 4 * WORDS }>();
            for group in groups {
                let vectors = group.as_chunks_mut::<WORDS>().0;
                let mut four = [splat(0); 4];
                for (vector, words) in four.iter_mut().zip(&*vectors) {
                    *vector = load(words);
                }
                permuted(&mut four);
                for (words, vector) in vectors.iter_mut().zip(four) {
                    store(words, vector);
                }
            }
            for words in rest.chunks_mut(WORDS) {
                let mut one = [load_part(words).0];
                permuted(&mut one);
                let mut last = [0; WORDS];
                store(&mut last, one[0]);
                words.copy_from_slice(&last[..words.len()]);
            }
        }

        #[target_feature(enable = $features)]
        pub(super) fn partition(words: &[u64], bit: u64, out: &mut [u64]) -> usize {
            debug_assert!(words.len() <= out.len(), "the parts fit the space");
            let (vectors, rest) = words.as_chunks::<WORDS>();
            // The two stores of the last vector may coincide, but not overlap in part.
            let spare = out.len().saturating_sub(words.len());
            let overlap = (1..WORDS).contains(&spare);
            let (vectors, last) = vectors.split_at(vectors.len().saturating_sub(overlap.into()));
            let (mut front, mut back) = partition_rest(rest, bit, out);
            let mut room = Room::<WORDS>::new(out);
            let splat_bit = splat(bit);
            for vector in vectors {
                let vector = load(vector);
                let lacks = disjoint_lanes(vector, splat_bit);
                let count = lacks.count_ones() as usize;
                // At least as many places are free as words are left, so whole vectors fit at both
                // ends: the first lanes stay at the front, the last ones at the back, and the others
                // are overwritten.
                let sorted = to_front(lacks, vector);
                room.fetch_after(front);
                room.fetch_before(back);
                store(room.at(front), sorted);
                front += count;
                store(room.at(back.wrapping_sub(WORDS)), sorted);
                back = back.wrapping_sub(WORDS - count);
            }
            front + partition_rest(last.as_flattened(), bit, &mut out[front..back]).0
        }

        #[target_feature(enable = $features)]
        pub(super) fn nested_loop(build: &[u64], probe: &[u64]) -> u64 {
            let mut pairs = 0;
            let (vectors, rest) = build.as_chunks::<WORDS>();
            let (last, last_lanes) = load_part(rest);
            for &word in probe {
                let word = splat(word);
                for vector in vectors {
                    pairs += u64::from(disjoint_lanes(load(vector), word).count_ones());
                }
                pairs += u64::from(disjoint_among(last_lanes, last, word).count_ones());
            }
            pairs
        }

        #[target_feature(enable = $features)]
        pub(super) fn count_bit_sliced(
            build: &[u64],
            probe: &[u64],
            bits: u32,
            tables: &mut Tables,
        ) -> u64 {
            let Tables::$width(tables) = tables else {
                unreachable!("tables are made for their kernel");
            };
            match (bits as usize).div_ceil(CHUNK_BITS) {
                ..=2 => count_blocks::<2>(build, probe, tables),
                3 => count_blocks::<3>(build, probe, tables),
                4 => count_blocks::<4>(build, probe, tables),
                5 => count_blocks::<5>(build, probe, tables),
                6 => count_blocks::<6>(build, probe, tables),
                7 => count_blocks::<7>(build, probe, tables),
                8 => count_blocks::<8>(build, probe, tables),
                _ => count_blocks::<MAX_CHUNKS>(build, probe, tables),
            }
        }

        #[target_feature(enable = $features)]
        fn count_blocks<const CHUNKS: usize>(
            build: &[u64],
            probe: &[u64],
            tables: &mut BlockTables<WORDS>,
        ) -> u64 {
            let mut pairs = 0;
            for block in build.chunks(64 * WORDS) {
                fill_tables(block, CHUNKS, tables);
                pairs += count_probes::<CHUNKS>(probe, &tables.tables);
            }
            pairs
        }

        /// Transposes a block of build words and tabulates the ANDs of its bit slices.
        #[target_feature(enable = $features)]
        fn fill_tables(block: &[u64], chunks: usize, tables: &mut BlockTables<WORDS>) {
            let BlockTables { tables, slices, padded } = tables;
            // What follows the last word of a partial block is masked out.
            let whole = if let Some(whole) = block.as_chunks::<WORDS>().0.first_chunk() {
                whole
            } else {
                padded.as_flattened_mut()[..block.len()].copy_from_slice(block);
                padded
            };
            transpose::<false>(whole, &mut slices[0]);
            if chunks * CHUNK_BITS > 32 {
                transpose::<true>(whole, &mut slices[1]);
            }
            let slices = slices.as_flattened();
            let all = splat(u64::MAX);
            for (chunk, table) in tables[..chunks].iter_mut().enumerate() {
                let first = if chunk == 0 { load(&valid_words::<WORDS>(block.len())) } else { all };
                store(&mut table[0], first);
                for bit in 0..CHUNK_BITS {
                    let slice = match slices.get(chunk * CHUNK_BITS + bit) {
                        Some(slice) => load(slice),
                        None => all,
                    };
                    let (known, new) = table.split_at_mut(1 << bit);
                    for (entry, below) in new.iter_mut().zip(&*known) {
                        store(entry, and(load(below), slice));
                    }
                }
            }
        }

        /// Bit slices of a block, inverted: 32 of them, of the low or the high half of the words.
        ///
        /// The 64 vectors are the rows of `WORDS` 64 x 64 bit matrices side by side in the lanes, so
        /// nothing ever crosses a lane. The first step packs the wanted halves of two rows into one;
        /// the others swap ever smaller squares of bits.
        #[target_feature(enable = $features)]
        fn transpose<const HIGH: bool>(rows: &[[u64; WORDS]; 64], slices: &mut [[u64; WORDS]; 32]) {
            let CacheLines(half) = &mut CacheLines([[0_u64; WORDS]; 32]);
            for lane in 0..8 {
                let pack =
                    |row: usize| inverted_halves::<HIGH>(load(&rows[row]), load(&rows[row + 32]));
                let mut quad = [pack(lane), pack(lane + 8), pack(lane + 16), pack(lane + 24)];
                swap_squares::<16>(&mut quad, 2, 0x0000_ffff_0000_ffff);
                swap_squares::<8>(&mut quad, 1, 0x00ff_00ff_00ff_00ff);
                for (at, vector) in quad.into_iter().enumerate() {
                    store(&mut half[lane + 8 * at], vector);
                }
            }
            for at in 0..4 {
                let mut eight = [splat(0); 8];
                for (vector, row) in eight.iter_mut().zip(&half[8 * at..]) {
                    *vector = load(row);
                }
                swap_squares::<4>(&mut eight, 4, 0x0f0f_0f0f_0f0f_0f0f);
                swap_squares::<2>(&mut eight, 2, 0x3333_3333_3333_3333);
                swap_squares::<1>(&mut eight, 1, 0x5555_5555_5555_5555);
                for (vector, slice) in eight.into_iter().zip(&mut slices[8 * at..]) {
                    store(slice, vector);
                }
            }
        }
    };
}
pub(super) use vector_kernel;
