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
//! | `BitTest::new(bit).lanes_with(vector)` | the lanes in which a vector has the bit |
//! | `to_front(lanes, vector)` | these lanes first, then the others |
//! | `to_back(lanes, vector)` | the other lanes first, then these |
//! | `compress(lanes, vector)` | these lanes first, then anything |
//! | `move_bits(image, vector, bit_move)` | the image with the bits that move equally far |
//! | `fill_tables::<CHUNKS>(block, tables)` | makes the tables of one block of the leaf |
//! | `count_probes::<CHUNKS>(probe, tables)` | counts the pairs of the block |
//! | `positional_popcount(sample)` | for each bit, the words that have it |
//!
//! Functions compiled for CPU features cannot be generic over them, so a macro writes the loops.
//! Arithmetic on vectors is safe in such functions; loads and stores take references.

/// How far ahead of a store its cache line is asked for: six lines. A partition of lists that fit the
/// second-level cache but not the first takes 0.3 ns a word with it, and 0.55 ns without.
const AHEAD: usize = 48;

/// Memory for whole vectors at any place; the number of places is computed once.
pub(super) struct Room<'a, const WORDS: usize> {
    words: &'a mut [u64],
    places: usize,
}

impl<'a, const WORDS: usize> Room<'a, WORDS> {
    pub(super) fn new(words: &'a mut [u64]) -> Self {
        let places = (words.len() + 1).saturating_sub(WORDS);
        Self { words, places }
    }

    /// The place for a whole vector at `at`; callers keep room for a vector after what they count. A
    /// store without room would lose words and make the count wrong, so it stops the process.
    #[inline]
    #[expect(unsafe_code, reason = "a second check would be paid for each vector")]
    pub(super) fn at(&mut self, at: usize) -> &mut [u64; WORDS] {
        if at >= self.places {
            no_room(at, self.words.len());
        }
        // SAFETY: `places` leaves room for `WORDS` words from `at` on.
        unsafe { &mut *self.words.as_mut_ptr().add(at).cast() }
    }

    /// Asks for the line that stores to `at`, which increases, will reach soon.
    #[inline]
    pub(super) fn fetch_after(&self, at: usize) {
        fetch_after(self.words.as_ptr().wrapping_add(at));
    }
}

/// Asks for the line that stores to `place`, which increases, will reach soon.
#[inline]
pub(super) fn fetch_after(place: *const u64) {
    prefetch(place.wrapping_add(AHEAD));
}

/// Asks for the line that stores to `place`, which decreases, will reach soon.
#[inline]
pub(super) fn fetch_before(place: *const u64) {
    prefetch(place.wrapping_sub(AHEAD));
}

/// Brings a line into the first-level cache, if there is memory at that place.
#[inline]
#[expect(unsafe_code, reason = "the instruction takes a pointer")]
fn prefetch(place: *const u64) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a prefetch reads nothing that the program sees, and no address makes it fail.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) }
}

/// Out of line, so that a store with room costs only a comparison.
#[cold]
#[inline(never)]
fn no_room(at: usize, len: usize) -> ! {
    panic!("no room for a vector at word {at} of {len}: words would be lost");
}

/// Defines the loops of a kernel, compiled for these CPU features, with the tables of its width.
macro_rules! vector_kernel {
    ($features:literal, $width:ident) => {
        #[target_feature(enable = $features)]
        #[expect(unsafe_code, reason = "a check would be paid for each vector")]
        pub(super) fn select(words: &[u64], bit: u64, out: &mut [u64]) -> usize {
            let (vectors, rest) = words.as_chunks::<WORDS>();
            let len = vectors.len() * WORDS;
            // A store without room would lose words and make the count wrong.
            assert!(len <= out.len(), "no room for {len} words in {}", out.len());
            let test = BitTest::new(bit);
            let start = out.as_mut_ptr();
            // The state is the next place if all words so far were kept, and minus the number of those
            // that were not: so stores need no arithmetic.
            let add = |(next, lost): (*mut u64, isize), vector: &[u64; WORDS]| {
                let vector = load(vector);
                let lanes = test.lanes_with(vector);
                debug_assert!(0 <= -lost && -lost <= (next.addr() - start.addr()) as isize / 8);
                // SAFETY: not more words were lost than the vectors so far have. So the place does not
                // start before `out`, and ends at most at `len`.
                let place = unsafe { &mut *next.wrapping_offset(lost).cast::<[u64; WORDS]>() };
                store(place, to_back(lanes, vector));
                (next.wrapping_add(WORDS), lost - lanes.count_ones() as isize)
            };
            // Two vectors of AVX2 fill one line.
            let (lines, odd) = vectors.as_chunks::<{ 8 / WORDS }>();
            let mut state = (start, 0);
            for line in lines {
                let (next, lost) = state;
                fetch_after(next.wrapping_offset(lost));
                for vector in line {
                    state = add(state, vector);
                }
            }
            for vector in odd {
                state = add(state, vector);
            }
            let (_, lost) = state;
            assert!(lost <= 0 && lost.unsigned_abs() <= len, "a store was out of place");
            let kept = len - lost.unsigned_abs();
            if rest.is_empty() {
                return kept;
            }
            let (vector, lanes) = load_part(rest);
            let free = disjoint_among(lanes, vector, splat(bit));
            store(Room::<WORDS>::new(out).at(kept), compress(free, vector));
            kept + free.count_ones() as usize
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
        #[expect(unsafe_code, reason = "a check would be paid for each vector")]
        pub(super) fn partition(words: &[u64], bit: u64, out: &mut [u64]) -> usize {
            let (vectors, rest) = words.as_chunks::<WORDS>();
            // The two stores of the last vector may coincide, but not overlap in part.
            let spare = out.len().saturating_sub(words.len());
            let overlap = (1..WORDS).contains(&spare);
            let (vectors, last) = vectors.split_at(vectors.len().saturating_sub(overlap.into()));
            let (first, middle) = partition_rest(rest, bit, out);
            let free = &mut out[first..middle];
            let len = vectors.len() * WORDS;
            // A store without room would lose words and make the count wrong.
            assert!(len <= free.len(), "no room for {len} words in {}", free.len());
            let test = BitTest::new(bit);
            let start = free.as_mut_ptr();
            let back = start.wrapping_add(free.len()).wrapping_sub(WORDS);
            // The state is the place at the front if no word so far had the bit, and minus the number of
            // those that have it: so stores need no arithmetic.
            let add = |(front, with): (*mut u64, isize), vector: &[u64; WORDS]| {
                let vector = load(vector);
                let lanes = test.lanes_with(vector);
                let sorted = to_back(lanes, vector);
                // At least as many places are free as words are left, so whole vectors fit at both
                // ends: the first lanes stay at the front, the last ones at the back, and the others
                // are overwritten.
                debug_assert!(0 <= -with && -with <= (front.addr() - start.addr()) as isize / 8);
                // SAFETY: not more words have the bit than the vectors so far have. So the place at the
                // front does not start before the free memory, and ends at most at `len`.
                let at_front = unsafe { &mut *front.wrapping_offset(with).cast::<[u64; WORDS]>() };
                store(at_front, sorted);
                // SAFETY: the same, from the back: the place ends at most at the end of the free memory,
                // and starts at most `len` words before it.
                let at_back = unsafe { &mut *back.wrapping_offset(with).cast::<[u64; WORDS]>() };
                store(at_back, sorted);
                (front.wrapping_add(WORDS), with - lanes.count_ones() as isize)
            };
            // Two vectors of AVX2 fill one line.
            let (lines, odd) = vectors.as_chunks::<{ 8 / WORDS }>();
            let mut state = (start, 0);
            for line in lines {
                let (front, with) = state;
                fetch_after(front.wrapping_offset(with));
                fetch_before(back.wrapping_offset(with));
                for vector in line {
                    state = add(state, vector);
                }
            }
            for vector in odd {
                state = add(state, vector);
            }
            assert!(state.1 <= 0 && state.1.unsigned_abs() <= len, "a store was out of place");
            let with = state.1.unsigned_abs();
            let (front, back) = (first + len - with, middle - with);
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

        common_loops!(
            #[target_feature(enable = $features)]
            $width
        );
    };
}
pub(super) use vector_kernel;
