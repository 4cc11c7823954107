//! Products of vectors in 8 bits, with the widest instructions that the processor has.
//!
//! The one loop is compiled for each instruction set; which one runs is decided when it is called. Integer sums are
//! exact, so that every one gives the same.

#![allow(unsafe_code)]

/// The loop. Products of codes fit in 16 bits, sums of millions of them in 32.
#[expect(clippy::inline_always, reason = "only inlined code takes on the instructions of its caller")]
#[inline(always)]
fn products(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

/// The loop over rows.
#[expect(clippy::inline_always, reason = "only inlined code takes on the instructions of its caller")]
#[inline(always)]
fn rows(codes: &[i8], query: &[i8], sums: &mut [i32]) {
    for (row, sum) in codes.chunks_exact(query.len()).zip(sums) {
        *sum = products(row, query);
    }
}

#[cfg(target_arch = "x86_64")]
mod wide {
    //! The loops for processors of the last ten years.

    #[target_feature(enable = "avx2")]
    pub(super) fn products_avx2(a: &[i8], b: &[i8]) -> i32 {
        super::products(a, b)
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn rows_avx2(codes: &[i8], query: &[i8], sums: &mut [i32]) {
        super::rows(codes, query, sums);
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    pub(super) fn rows_avx512(codes: &[i8], query: &[i8], sums: &mut [i32]) {
        super::rows(codes, query, sums);
    }
}

/// Returns Σ a·b, exactly.
#[must_use]
pub fn dot(a: &[i8], b: &[i8]) -> i32 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the function is safe but for the instructions that it uses, and the processor has just said that it
        // has them.
        return unsafe { wide::products_avx2(a, b) };
    }
    products(a, b)
}

/// Returns the product of `query` and every row of `codes`, which are rows of its length.
#[must_use]
pub fn dots(codes: &[i8], query: &[i8]) -> Vec<i32> {
    if query.is_empty() {
        return Vec::new();
    }
    let mut sums = vec![0; codes.len() / query.len()];
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        if has!("avx512f") && has!("avx512bw") && has!("avx512vl") {
            // SAFETY: as in `dot`: the processor has the instructions.
            unsafe { wide::rows_avx512(codes, query, &mut sums) };
            return sums;
        }
        if has!("avx2") {
            // SAFETY: as in `dot`: the processor has the instructions.
            unsafe { wide::rows_avx2(codes, query, &mut sums) };
            return sums;
        }
    }
    rows(codes, query, &mut sums);
    sums
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn wide_instructions_give_what_the_plain_loop_gives(
            query in prop::collection::vec(-127i8..=127, 1..300),
            rows_count in 0usize..8,
            seed in any::<i8>(),
        ) {
            let code = |i: usize| (i as i8).wrapping_mul(31).wrapping_add(seed).max(-127);
            let codes: Vec<i8> = (0..rows_count * query.len()).map(code).collect();
            let mut expect = vec![0; rows_count];
            rows(&codes, &query, &mut expect);
            prop_assert_eq!(&dots(&codes, &query), &expect);
            for (row, sum) in codes.chunks_exact(query.len()).zip(&expect) {
                prop_assert_eq!(dot(row, &query), *sum);
            }
        }
    }
}
