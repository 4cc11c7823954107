//! Loops over vectors and their products, with the widest instructions that the processor has.
//!
//! Each loop is compiled for several instruction sets and dispatched at each call. For processors that multiply and add
//! 64 pairs of bytes at once, products of codes are written by hand, because no compiler finds that instruction.
//! Integer sums are exact, so all variants give the same result. So do those of floats: each value is rounded by
//! itself, and no variant may multiply and add in one step.

#![allow(unsafe_code)]

/// Rows of a panel.
pub(crate) const PANEL_ROWS: usize = 16;
/// Codes of each row of a panel in one block.
pub(crate) const PANEL_CODES: usize = 4;
/// Bytes of a block of a panel.
pub(crate) const PANEL_BLOCK: usize = PANEL_ROWS * PANEL_CODES;

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

/// Values that are compared together.
const COMPARED: usize = 64;

/// The loop that scales products of codes to products of vectors.
#[expect(clippy::inline_always, reason = "only inlined code takes on the instructions of its caller")]
#[inline(always)]
fn scaled(sums: &[i32], scale: f32, scales: &[f32], values: &mut [f32]) {
    for ((value, sum), other) in values.iter_mut().zip(sums).zip(scales) {
        *value = *sum as f32 * scale * other;
    }
}

/// The loop over values that looks for one of at least `least`.
#[expect(clippy::inline_always, reason = "only inlined code takes on the instructions of its caller")]
#[inline(always)]
fn first(values: &[f32], least: f32) -> Option<usize> {
    let (blocks, rest) = values.as_chunks::<COMPARED>();
    let reaches = |value: &f32| *value >= least;
    if values.first().is_some_and(reaches) {
        return Some(0);
    }
    let reach = |block: &[f32; COMPARED]| block.iter().map(|value| u32::from(reaches(value))).sum::<u32>() > 0;
    let place = match blocks.iter().position(reach) {
        Some(block) => COMPARED * block,
        None => values.len() - rest.len(),
    };
    values[place..].iter().position(reaches).map(|after| place + after)
}

/// The loop over values with sets of bits that looks for one that is wanted.
#[expect(clippy::inline_always, reason = "only inlined code takes on the instructions of its caller")]
#[expect(clippy::needless_bitwise_bool, reason = "a loop without branches uses wide instructions")]
#[inline(always)]
fn first_of_wanted(values: &[f32], sets: &[u64], Wanted { least, enough, bits }: Wanted) -> Option<usize> {
    let is_wanted = |value: &f32, set: &u64| (*value >= enough) | ((*value >= least) & (set & bits != 0));
    if values.first().zip(sets.first()).is_some_and(|(value, set)| is_wanted(value, set)) {
        return Some(0);
    }
    let blocks = values.as_chunks::<COMPARED>().0.iter().zip(sets.as_chunks::<COMPARED>().0);
    let has_any = |(values, sets): (&[f32; COMPARED], &[u64; COMPARED])| {
        values.iter().zip(sets).map(|(value, set)| u32::from(is_wanted(value, set))).sum::<u32>() > 0
    };
    let passed = COMPARED * blocks.clone().position(has_any).unwrap_or(blocks.len());
    let mut rest = values[passed..].iter().zip(&sets[passed..]);
    rest.position(|(value, set)| is_wanted(value, set)).map(|after| passed + after)
}

/// The loop over values that keeps the largest of each lane.
#[expect(clippy::inline_always, reason = "only inlined code takes on the instructions of its caller")]
#[inline(always)]
fn largest(values: &[f32]) -> [f32; COMPARED] {
    let mut maxima = [f32::NEG_INFINITY; COMPARED];
    let (blocks, rest) = values.as_chunks::<COMPARED>();
    for values in blocks.iter().map(|block| &block[..]).chain([rest]) {
        for (maximum, value) in maxima.iter_mut().zip(values) {
            *maximum = if *value > *maximum { *value } else { *maximum };
        }
    }
    maxima
}

/// The loop over the rows of a matrix, each times a factor: `WIDTH` sums at a time, each in the order of the rows.
#[expect(clippy::inline_always, reason = "only inlined code takes on the instructions of its caller")]
#[inline(always)]
fn summed<const WIDTH: usize>(factors: &[f32], rows: &[[f32; WIDTH]]) -> [f32; WIDTH] {
    let mut sums = [0.0; WIDTH];
    for (factor, row) in factors.iter().zip(rows) {
        for (sum, value) in sums.iter_mut().zip(row) {
            *sum += factor * value;
        }
    }
    sums
}

/// `WIDTH` centers side by side: the coordinates of each, and half of the square of its length.
pub(crate) struct Centers<const WIDTH: usize> {
    pub(crate) coordinates: Vec<[f32; WIDTH]>,
    pub(crate) halves: [f32; WIDTH],
}

/// The loop over centers that keeps the nearest of each column, and then that of all.
#[expect(clippy::inline_always, reason = "only inlined code takes on the instructions of its caller")]
#[inline(always)]
fn nearest_of<const WIDTH: usize>(row: &[f32], centers: &[Centers<WIDTH>]) -> u32 {
    let (mut most, mut numbers) = ([f32::NEG_INFINITY; WIDTH], std::array::from_fn(|column| column as u32));
    let columns: [u32; WIDTH] = numbers;
    for (first, Centers { coordinates, halves }) in (0..).step_by(WIDTH).zip(centers) {
        let products = summed(row, coordinates);
        for column in 0..WIDTH {
            let nearness = products[column] - halves[column];
            let is_more = nearness > most[column];
            most[column] = if is_more { nearness } else { most[column] };
            numbers[column] = if is_more { first + columns[column] } else { numbers[column] };
        }
    }
    let mut width = WIDTH;
    while width > 1 {
        width /= 2;
        for (column, other) in (0..width).zip(width..) {
            let is_first = numbers[other] < numbers[column];
            let is_nearer = if is_first { most[other] >= most[column] } else { most[other] > most[column] };
            most[column] = if is_nearer { most[other] } else { most[column] };
            numbers[column] = if is_nearer { numbers[other] } else { numbers[column] };
        }
    }
    numbers[0]
}

#[cfg(target_arch = "x86_64")]
mod wide {
    //! The loops for processors of the last ten years.

    #[allow(clippy::wildcard_imports, reason = "a dozen names, all of instructions")]
    use std::arch::x86_64::*;

    use super::{PANEL_CODES, PANEL_ROWS};

    #[target_feature(enable = "avx2")]
    pub(super) fn products_avx2(a: &[i8], b: &[i8]) -> i32 {
        super::products(a, b)
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn scaled_avx2(sums: &[i32], scale: f32, scales: &[f32], values: &mut [f32]) {
        super::scaled(sums, scale, scales, values);
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn first_avx2(values: &[f32], least: f32) -> Option<usize> {
        super::first(values, least)
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn wanted_avx2(values: &[f32], sets: &[u64], wanted: super::Wanted) -> Option<usize> {
        super::first_of_wanted(values, sets, wanted)
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn largest_avx2(values: &[f32]) -> [f32; super::COMPARED] {
        super::largest(values)
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn summed_avx2<const WIDTH: usize>(factors: &[f32], rows: &[[f32; WIDTH]]) -> [f32; WIDTH] {
        super::summed(factors, rows)
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn nearest_avx2<const WIDTH: usize>(row: &[f32], centers: &[super::Centers<WIDTH>]) -> u32 {
        super::nearest_of(row, centers)
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

    /// The same for many rows and queries: each lane sums the product of one row, and each block is read once for all
    /// queries of a tile.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
    pub(super) fn panels_vnni(panels: &[[u8; BLOCK]], queries: &[&[i8]], sums: &mut [i32]) {
        let (eights, rest) = queries.as_chunks::<8>();
        let (fours, ones) = rest.as_chunks::<4>();
        let Some(of_each) = sums.len().checked_div(queries.len()) else { return };
        let (of_eights, rest) = sums.split_at_mut(eights.as_flattened().len() * of_each);
        let (of_fours, of_ones) = rest.split_at_mut(fours.as_flattened().len() * of_each);
        tiles_vnni(panels, eights, of_eights);
        tiles_vnni(panels, fours, of_fours);
        tiles_vnni(panels, ones.as_chunks::<1>().0, of_ones);
    }

    /// Multiplies tiles of queries by two panels at a time, so that their sums stay in registers.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
    fn tiles_vnni<const QUERIES: usize>(panels: &[[u8; BLOCK]], tiles: &[[&[i8]; QUERIES]], sums: &mut [i32]) {
        let Some(of_tile) = sums.len().checked_div(tiles.len()) else { return };
        let of_each = of_tile / QUERIES;
        for (queries, sums) in tiles.iter().zip(sums.chunks_exact_mut(of_tile.max(1))) {
            let queries = queries.map(|query| query.as_chunks::<PANEL_CODES>().0);
            let sum =
                |query: &[[i8; PANEL_CODES]]| query.as_flattened().iter().map(|code| i32::from(*code)).sum::<i32>();
            let added = queries.map(|query| 128 * sum(query));
            let depth = queries[0].len();
            for (first, two) in (0..).step_by(2 * PANEL_ROWS).zip(panels.chunks(2 * depth)) {
                // A last panel that is alone is multiplied twice.
                let other = two.len() - depth;
                let products = two_panels([&two[..depth], &two[other..]], queries);
                for query in 0..QUERIES {
                    let (sums, added) = (&mut sums[query * of_each + first..], _mm512_set1_epi32(added[query]));
                    let (sums, _) = sums.as_chunks_mut::<PANEL_ROWS>();
                    store(&mut sums[0], _mm512_sub_epi32(products[query][0], added));
                    store(&mut sums[other / depth], _mm512_sub_epi32(products[query][1], added));
                }
            }
        }
    }

    /// Returns the sixteen sums of each query and each of two panels.
    ///
    /// It has no closure: the functions that would call it are compiled without these instructions.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
    fn two_panels<const QUERIES: usize>(
        [one, other]: [&[[u8; BLOCK]]; 2],
        queries: [&[[i8; PANEL_CODES]]; QUERIES],
    ) -> [[__m512i; 2]; QUERIES] {
        let mut sums = [[_mm512_setzero_si512(); 2]; QUERIES];
        for at in 0..one.len() {
            let (one, other) = (block(&one[at]), block(&other[at]));
            for query in 0..QUERIES {
                let codes = _mm512_set1_epi32(bytemuck::cast(queries[query][at]));
                sums[query][0] = _mm512_dpbusd_epi32(sums[query][0], one, codes);
                sums[query][1] = _mm512_dpbusd_epi32(sums[query][1], other, codes);
            }
        }
        sums
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
    fn block<B: bytemuck::Pod>(codes: &[B; BLOCK]) -> __m512i {
        const { assert!(size_of::<B>() == 1) };
        // SAFETY: it reads 64 bytes, the size of the array, at any alignment.
        unsafe { _mm512_loadu_si512(codes.as_ptr().cast()) }
    }

    #[target_feature(enable = "avx512f")]
    fn store(sums: &mut [i32; PANEL_ROWS], values: __m512i) {
        // SAFETY: it writes 64 bytes, the size of the array, at any alignment.
        unsafe { _mm512_storeu_si512(sums.as_mut_ptr().cast(), values) }
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

/// Returns whether the processor has the instruction that multiplies bytes, and so multiplies panels faster than rows.
pub(crate) fn has_panels() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        has!("avx512f") && has!("avx512bw") && has!("avx512vl") && has!("avx512vnni")
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Puts the product of each of `queries` and each row of `panels` into `sums`, query by query. A panel is
/// [`PANEL_ROWS`] rows, as one block for every four codes of a query: block `i` has the `i`-th four codes of each row,
/// plus 128. Queries have one length, a multiple of [`PANEL_CODES`]; `sums` has room for each of them and each row.
///
/// # Panics
///
/// If the processor lacks the instructions ([`has_panels`]), or a length is wrong.
pub(crate) fn panel_dots(panels: &[[u8; PANEL_BLOCK]], queries: &[&[i8]], sums: &mut [i32]) {
    assert!(has_panels(), "the processor lacks the instructions for panels");
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (panels, queries, sums);
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the function is safe except for its instructions, and the processor has just been found to have them.
    unsafe {
        wide::panels_vnni(panels, queries, sums);
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
        if has_panels() {
            // SAFETY: as in `dot`: the processor has the instructions.
            return unsafe { wide::rows_vnni(codes, query, sums) };
        }
        if has!("avx512f") && has!("avx512bw") && has!("avx512vl") {
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

/// Puts each of `sums` times `scale`, and then times its own of `scales`, into `values`.
pub(crate) fn put_scaled(sums: &[i32], (scale, scales): (f32, &[f32]), values: &mut Vec<f32>) {
    values.resize(sums.len().min(scales.len()), 0.0);
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: as in `dot`: the processor has the instructions.
        return unsafe { wide::scaled_avx2(sums, scale, scales, values) };
    }
    scaled(sums, scale, scales, values);
}

/// Returns the place of the first value of at least `least`.
pub(crate) fn first_at_least(values: &[f32], least: f32) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: as in `dot`: the processor has the instructions.
        return unsafe { wide::first_avx2(values, least) };
    }
    first(values, least)
}

/// What values are looked for: those of at least `enough`, and those of at least `least` whose set shares a bit with
/// `bits`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) least: f32,
    pub(crate) enough: f32,
    pub(crate) bits: u64,
}

/// Returns the place of the first value that is wanted; each has a set of bits.
pub(crate) fn first_wanted(values: &[f32], sets: &[u64], wanted: Wanted) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: as in `dot`: the processor has the instructions.
        return unsafe { wide::wanted_avx2(values, sets, wanted) };
    }
    first_of_wanted(values, sets, wanted)
}

/// Returns the largest value of each lane: lane `i` has the values `i`, `i + 64`, and so on; negative infinity in one
/// without a number.
pub(crate) fn maxima(values: &[f32]) -> [f32; COMPARED] {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: as in `dot`: the processor has the instructions.
        return unsafe { wide::largest_avx2(values) };
    }
    largest(values)
}

/// Returns the sum of the rows, each times its factor: a row of factors times a matrix of `WIDTH` columns.
pub(crate) fn weighted_sum<const WIDTH: usize>(factors: &[f32], rows: &[[f32; WIDTH]]) -> [f32; WIDTH] {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: as in `dot`: the processor has the instructions.
        return unsafe { wide::summed_avx2(factors, rows) };
    }
    summed(factors, rows)
}

/// Returns the number of the center nearest to `row`: the first of those with the most `row · center − |center|² / 2`.
/// `WIDTH` is a power of two.
pub(crate) fn nearest<const WIDTH: usize>(row: &[f32], centers: &[Centers<WIDTH>]) -> u32 {
    const { assert!(WIDTH.is_power_of_two(), "columns are compared in pairs") };
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: as in `dot`: the processor has the instructions.
        return unsafe { wide::nearest_avx2(row, centers) };
    }
    nearest_of(row, centers)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_value_that_reaches_a_bound_is_found_wherever_it_is() {
        let mut values: Vec<f32> = (0..3 * COMPARED + 5).map(|at| -(at as f32)).collect();
        assert_eq!((first_at_least(&values, 1.0), first_at_least(&[], f32::NEG_INFINITY)), (None, None));
        values[7] = f32::NAN;
        for at in [3 * COMPARED + 4, 3 * COMPARED, 3 * COMPARED - 1, COMPARED, 9, 0] {
            values[at] = 1.0;
            assert_eq!(first_at_least(&values, 1.0), Some(at));
            assert_eq!(first_at_least(&values[at..], 0.5), Some(0));
        }
    }

    /// Values of which many are equal, and some are no numbers.
    fn values() -> impl Strategy<Value = Vec<f32>> {
        prop::collection::vec(prop_oneof![9 => (-9i8..9).prop_map(f32::from), 1 => Just(f32::NAN)], 0..300)
    }

    proptest! {
        #[test]
        fn the_first_value_that_is_wanted_is_that_of_a_plain_search(
            values in values(),
            seed in any::<u64>(),
            (least, enough, bits) in (-9i8..12, 0i8..12, 0u64..16),
        ) {
            let set = |at: u64| (seed ^ at).wrapping_mul(0x9e37_79b9) >> 28;
            let sets: Vec<u64> = (0..values.len() as u64).map(set).collect();
            let (least, enough) = (f32::from(least), f32::from(least) + f32::from(enough));
            let is_wanted = |at: &usize| values[*at] >= enough || values[*at] >= least && sets[*at] & bits != 0;
            for start in [0, 1, 63, 64, 200].into_iter().filter(|start| *start <= values.len()) {
                let due = (start..values.len()).find(is_wanted).map(|at| at - start);
                let wanted = Wanted { least, enough, bits };
                prop_assert_eq!(first_wanted(&values[start..], &sets[start..], wanted), due);
                prop_assert_eq!(first_of_wanted(&values[start..], &sets[start..], wanted), due);
            }
        }

        #[test]
        fn maxima_are_the_largest_of_each_lane(values in values()) {
            let of_lane = |lane| values.iter().skip(lane).step_by(COMPARED).copied().fold(f32::NEG_INFINITY, f32::max);
            let due: Vec<f32> = (0..COMPARED).map(of_lane).collect();
            prop_assert_eq!(&maxima(&values)[..], &due[..]);
            prop_assert_eq!(&largest(&values)[..], &due[..]);
        }

        #[test]
        fn sums_are_scaled_as_one_by_one(
            sums in prop::collection::vec(any::<i32>(), 0..99),
            scale in any::<f32>(),
            seed in any::<f32>(),
        ) {
            let scales: Vec<f32> = (0..sums.len()).map(|at| seed * at as f32).collect();
            let mut values = vec![7.0; 12];
            put_scaled(&sums, (scale, &scales), &mut values);
            prop_assert_eq!(values.len(), sums.len());
            for ((value, sum), other) in values.iter().zip(&sums).zip(&scales) {
                let due = *sum as f32 * scale * other;
                prop_assert!(value.to_bits() == due.to_bits() || value.is_nan() && due.is_nan());
            }
        }

        #[test]
        fn a_weighted_sum_is_that_of_one_column_after_the_other(
            factors in values(),
            rows in prop::collection::vec(any::<[f32; 32]>(), 0..80),
        ) {
            let (wide, plain) = (weighted_sum(&factors, &rows), summed(&factors, &rows));
            for column in 0..32 {
                let due = factors.iter().zip(&rows).fold(0.0, |sum, (factor, row)| sum + factor * row[column]);
                for sum in [wide[column], plain[column]] {
                    prop_assert!(sum.to_bits() == due.to_bits() || sum.is_nan() && due.is_nan());
                }
            }
        }

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

        #[test]
        fn panels_of_any_codes_give_what_the_plain_loop_gives(
            queries in prop::collection::vec(prop::collection::vec(any::<i8>(), 256), 0..22),
            panels in 0usize..6,
            seed in any::<i8>(),
        ) {
            let varied = |i: usize| (i as i8).wrapping_mul(31).wrapping_add(seed);
            let code = |i: usize| if i.is_multiple_of(7) { i8::MIN } else { varied(i) };
            let codes: Vec<i8> = (0..panels * PANEL_ROWS * 256).map(code).collect();
            let mut blocks = vec![[0; PANEL_BLOCK]; panels * 256 / PANEL_CODES];
            for (number, row) in codes.chunks_exact(256).enumerate() {
                for (at, four) in row.as_chunks::<PANEL_CODES>().0.iter().enumerate() {
                    let block = &mut blocks[number / PANEL_ROWS * 256 / PANEL_CODES + at];
                    block[number % PANEL_ROWS * PANEL_CODES..][..PANEL_CODES]
                        .copy_from_slice(&four.map(|code| code.cast_unsigned() ^ 0x80));
                }
            }
            let mut expect = vec![0; queries.len() * panels * PANEL_ROWS];
            for (query, sums) in queries.iter().zip(expect.chunks_exact_mut((panels * PANEL_ROWS).max(1))) {
                rows(&codes, query, sums);
            }
            let queries: Vec<&[i8]> = queries.iter().map(Vec::as_slice).collect();
            let mut sums = vec![7; expect.len()];
            if has_panels() {
                panel_dots(&blocks, &queries, &mut sums);
                prop_assert_eq!(&sums, &expect);
            }
        }
    }
}
