//! A set is one vector; `vpopcntq` counts its bits.

use std::arch::x86_64::*;

use super::super::fillings::Filling;
use super::Set;

#[target_feature(enable = "avx512f,avx512vpopcntdq")]
pub(in super::super) fn count(
    pairs: &[[Set; 256]],
    counting: &[[Set; 2]],
    list: &[Filling],
) -> [u64; 2] {
    let mut found = [_mm512_setzero_si512(); 2];
    for filling in list {
        let mut fits = _mm512_set1_epi64(-1);
        for (sets, pair) in pairs.iter().zip(filling.pairs) {
            fits = _mm512_and_si512(fits, load(&sets[usize::from(pair)]));
        }
        for (counting, found) in counting[usize::from(filling.northern)].iter().zip(&mut found) {
            let fits = _mm512_and_si512(fits, load(counting));
            *found = _mm512_add_epi64(*found, _mm512_popcnt_epi64(fits));
        }
    }
    found.map(|found| _mm512_reduce_add_epi64(found).cast_unsigned())
}

#[target_feature(enable = "avx512f")]
#[expect(unsafe_code, reason = "vector loads take pointers")]
fn load(set: &Set) -> __m512i {
    // SAFETY: the reference covers the 64 bytes read; this load needs no alignment.
    unsafe { _mm512_loadu_si512(set.0.as_ptr().cast()) }
}
