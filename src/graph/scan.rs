//! The inner product of vectors in 8 bits, by the widest instructions that the machine has: the one place where
//! `unsafe` is allowed for that.
//!
//! Proof. What is unsafe is to call a function compiled for instructions that the machine may lack, and to load from a
//! raw pointer. The call stands behind the check for these instructions. Each load reads 16 bytes from the start of an
//! array of 16 bytes, and needs no alignment. The portable twin is the reference in the tests.
#![allow(unsafe_code)]

/// Values that one step takes.
const STEP: usize = 16;

/// Returns Σ a·b, exactly, over the shorter of the two.
#[must_use]
#[inline]
pub fn dot(a: &[i8], b: &[i8]) -> i32 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has the instructions, as was just checked.
        return unsafe { dot_avx2(a, b) };
    }
    dot_portable(a, b)
}

/// Returns what [`dot`] returns, on any machine.
#[must_use]
pub fn dot_portable(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn dot_avx2(a: &[i8], b: &[i8]) -> i32 {
    use std::arch::x86_64::{
        __m256i, _mm_add_epi32, _mm_cvtsi128_si32, _mm_loadu_si128, _mm_shuffle_epi32, _mm256_add_epi32,
        _mm256_castsi256_si128, _mm256_cvtepi8_epi16, _mm256_extracti128_si256, _mm256_madd_epi16,
        _mm256_setzero_si256,
    };
    let count = a.len().min(b.len());
    let (a, a_rest) = a[..count].as_chunks::<STEP>();
    let (b, b_rest) = b[..count].as_chunks::<STEP>();
    let mut sums: __m256i = _mm256_setzero_si256();
    for (a, b) in a.iter().zip(b) {
        // SAFETY: both are arrays of 16 bytes, and the load needs no alignment.
        let (a, b) = unsafe { (_mm_loadu_si128(a.as_ptr().cast()), _mm_loadu_si128(b.as_ptr().cast())) };
        sums = _mm256_add_epi32(sums, _mm256_madd_epi16(_mm256_cvtepi8_epi16(a), _mm256_cvtepi8_epi16(b)));
    }
    let four = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums));
    let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b_00_00_11_10>(four));
    let one = _mm_add_epi32(two, _mm_shuffle_epi32::<0b_00_00_00_01>(two));
    _mm_cvtsi128_si32(one) + dot_portable(a_rest, b_rest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_way_gives_the_same_product(
            a in prop::collection::vec(any::<i8>(), 0..300), b in prop::collection::vec(any::<i8>(), 0..300),
        ) {
            prop_assert_eq!(dot(&a, &b), dot_portable(&a, &b));
        }
    }

    #[test]
    fn the_largest_values_do_not_overflow() {
        let least = [i8::MIN; 4_096];
        assert_eq!(dot(&least, &least), 4_096 * 128 * 128);
    }
}
