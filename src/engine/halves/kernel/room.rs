//! Memory that vector kernels write lists to.

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
}

/// Out of line, so that a store with room costs only a comparison.
#[cold]
#[inline(never)]
fn no_room(at: usize, len: usize) -> ! {
    panic!("no room for a vector at word {at} of {len}: words would be lost");
}

/// Partitions words one by one; returns the free range of `out` that is left.
pub(super) fn partition_rest(words: &[u64], bit: u64, out: &mut [u64]) -> (usize, usize) {
    let (mut front, mut back) = (0, out.len());
    for &word in words {
        if word & bit == 0 {
            out[front] = word;
            front += 1;
        } else {
            back -= 1;
            out[back] = word;
        }
    }
    (front, back)
}
