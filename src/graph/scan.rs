//! Products of vectors in 8 bits, with the widest instructions that the processor has.
//!
//! The loop is compiled for each instruction set and dispatched at each call. For processors that multiply and add 64
//! pairs of bytes at once, it is written by hand, because no compiler finds that instruction. Integer sums are exact,
//! so all variants give the same result.

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

    #[allow(clippy::wildcard_imports, reason = "a dozen names, all of instructions")]
    use std::arch::x86_64::*;

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

    /// Codes that one instruction multiplies.
    const BLOCK: usize = 64;

    /// The instruction multiplies bytes without a sign by bytes with one. A code with its sign bit turned is the code
    /// plus 128 without a sign: Σ(a + 128)·b − 128·Σb is the product.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
    pub(super) fn rows_vnni(codes: &[i8], query: &[i8], sums: &mut [i32]) {
        let blocks = query.as_chunks::<BLOCK>().0;
        let added = 128 * blocks.as_flattened().iter().map(|code| i32::from(*code)).sum::<i32>();
        let size = query.len();
        let (groups, last) = sums.as_chunks_mut::<4>();
        for (sums, rows) in groups.iter_mut().zip(codes.chunks_exact(4 * size)) {
            let (ab, cd) = rows.split_at(2 * size);
            let ((a, b), (c, d)) = (ab.split_at(size), cd.split_at(size));
            let products = [a, b, c, d].map(|row| block_products(row, blocks));
            *sums = four_sums(products).map(|sum| sum - added);
        }
        let done = 4 * groups.len() * size;
        for (sum, row) in last.iter_mut().zip(codes[done..].chunks_exact(size)) {
            *sum = _mm512_reduce_add_epi32(block_products(row, blocks)) - added;
        }
        let rest = blocks.len() * BLOCK;
        if rest < size {
            for (sum, row) in sums.iter_mut().zip(codes.chunks_exact(size)) {
                *sum += super::products(&row[rest..], &query[rest..]);
            }
        }
    }

    /// Returns sixteen parts of Σ(a + 128)·b over whole blocks.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
    fn block_products(row: &[i8], query: &[[i8; BLOCK]]) -> __m512i {
        let mut sum = _mm512_setzero_si512();
        for (a, b) in row.as_chunks::<BLOCK>().0.iter().zip(query) {
            sum = _mm512_dpbusd_epi32(sum, _mm512_xor_si512(block(a), _mm512_set1_epi8(i8::MIN)), block(b));
        }
        sum
    }

    #[target_feature(enable = "avx512f")]
    fn block(codes: &[i8; BLOCK]) -> __m512i {
        // SAFETY: it reads 64 bytes, the size of the array, at any alignment.
        unsafe { _mm512_loadu_si512(codes.as_ptr().cast()) }
    }

    /// Returns the sum of each of four vectors.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    fn four_sums([a, b, c, d]: [__m512i; 4]) -> [i32; 4] {
        let ab = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
        let cd = _mm512_add_epi32(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
        let all = _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
        let half = _mm256_add_epi32(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64::<1>(all));
        let sums = _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256::<1>(half));
        [
            _mm_extract_epi32::<0>(sums),
            _mm_extract_epi32::<1>(sums),
            _mm_extract_epi32::<2>(sums),
            _mm_extract_epi32::<3>(sums),
        ]
    }
}

/// Returns Σ a·b, exactly.
#[must_use]
pub(crate) fn dot(a: &[i8], b: &[i8]) -> i32 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the function is safe except for its instructions, and the processor has just been found to have them.
        return unsafe { wide::products_avx2(a, b) };
    }
    products(a, b)
}

/// Puts the product of `query` and every row of `codes`, which are rows of its length, into `sums`.
pub(crate) fn dots(codes: &[i8], query: &[i8], sums: &mut Vec<i32>) {
    sums.clear();
    if query.is_empty() {
        return;
    }
    sums.resize(codes.len() / query.len(), 0);
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        let is_wide = has!("avx512f") && has!("avx512bw") && has!("avx512vl");
        if is_wide && has!("avx512vnni") {
            // SAFETY: as in `dot`: the processor has the instructions.
            return unsafe { wide::rows_vnni(codes, query, sums) };
        }
        if is_wide {
            // SAFETY: as in `dot`: the processor has the instructions.
            return unsafe { wide::rows_avx512(codes, query, sums) };
        }
        if has!("avx2") {
            // SAFETY: as in `dot`: the processor has the instructions.
            return unsafe { wide::rows_avx2(codes, query, sums) };
        }
    }
    rows(codes, query, sums);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn wide_instructions_give_what_the_plain_loop_gives(
            query in prop::collection::vec(any::<i8>(), 1..300),
            rows_count in 0usize..11,
            seed in any::<i8>(),
        ) {
            let code = |i: usize| (i as i8).wrapping_mul(31).wrapping_add(seed);
            let codes: Vec<i8> = (0..rows_count * query.len()).map(code).collect();
            let mut expect = vec![0; rows_count];
            rows(&codes, &query, &mut expect);
            let mut sums = vec![7];
            dots(&codes, &query, &mut sums);
            prop_assert_eq!(&sums, &expect);
            for (row, sum) in codes.chunks_exact(query.len()).zip(&expect) {
                prop_assert_eq!(dot(row, &query), *sum);
            }
        }
    }
}
