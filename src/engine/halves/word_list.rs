//! A growing list of words with room after its end, so that a kernel may store whole vectors.

/// Words after the end of a list that a kernel may overwrite: one vector of the widest kernel.
pub(crate) const SLACK: usize = 8;

/// Buffers up to this many words are kept however short their lists are.
const ALWAYS_KEPT: usize = 1 << 21;

/// A list of words, backed by initialised memory that it keeps until it is dropped.
#[derive(Debug, Default)]
pub(crate) struct WordList {
    words: Vec<u64>,
    len: usize,
}

impl WordList {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Removes all words and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// Frees the memory after the end if it is large and more than four times as long as the list: a
    /// unit that needed so much is rare.
    pub(crate) fn release_excess(&mut self) {
        let used = self.len + SLACK;
        if self.is_large() && self.words.capacity() / 4 > used {
            self.words.truncate(used);
            self.words.shrink_to_fit();
        }
    }

    /// Whether the memory is worth freeing.
    pub(crate) fn is_large(&self) -> bool {
        self.words.capacity() > ALWAYS_KEPT
    }

    pub(crate) fn as_slice(&self) -> &[u64] {
        &self.words[..self.len]
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [u64] {
        &mut self.words[..self.len]
    }

    pub(crate) fn extend_from_slice(&mut self, words: &[u64]) {
        self.room(words.len())[..words.len()].copy_from_slice(words);
        self.len += words.len();
    }

    /// The memory after the end, at least `count + SLACK` words, to be filled from its start;
    /// [`grow`](Self::grow) then adds the words that were filled.
    pub(crate) fn room(&mut self, count: usize) -> &mut [u64] {
        let needed = self.len + count + SLACK;
        if self.words.len() < needed {
            if self.words.capacity() < needed {
                // A list of gigabytes must not take twice its size, so the memory grows by an eighth.
                self.words.reserve_exact(needed + needed / 8 - self.words.len());
            }
            // Only what is needed is written to: filling the rest of a long list with zeros would take
            // as long as making the list.
            self.words.resize(needed, 0);
        }
        &mut self.words[self.len..]
    }

    /// Adds `count` words that were written to [`room`](Self::room) to the list.
    pub(crate) fn grow(&mut self, count: usize) {
        assert!(
            self.len + count + SLACK <= self.words.len(),
            "{count} words were added without room for them"
        );
        self.len += count;
    }
}
