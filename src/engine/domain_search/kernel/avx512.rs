//! A set is one vector; `vpopcntq` counts its bits.

use std::arch::x86_64::*;

use super::super::fillings::Filling;
use super::Set;
use crate::engine::kernel::avx512::load;

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
            fits = _mm512_and_si512(fits, load(&sets[usize::from(pair)].0));
        }
        for (counting, found) in counting[usize::from(filling.northern)].iter().zip(&mut found) {
            let fits = _mm512_and_si512(fits, load(&counting.0));
            *found = _mm512_add_epi64(*found, _mm512_popcnt_epi64(fits));
        }
    }
    found.map(|found| _mm512_reduce_add_epi64(found).cast_unsigned())
}
