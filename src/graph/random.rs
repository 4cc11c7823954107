//! Random numbers that are the same for a seed on every machine.

/// `SplitMix64` (Steele, Lea, Flood 2014).
pub(super) struct SplitMix64(u64);

impl SplitMix64 {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        value ^ (value >> 31)
    }

    /// Returns a number from 0 up to, and without, 1.
    pub(super) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns a number below `count`.
    pub(super) const fn below(&mut self, count: u32) -> u32 {
        (((self.next() >> 32) * count as u64) >> 32) as u32
    }

    pub(super) fn shuffle(&mut self, values: &mut [u32]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.below(last as u32 + 1) as usize);
        }
    }
}

/// Returns the seed of the part `number` of something with the seed `seed`.
pub(super) const fn part_seed(seed: u64, number: u64) -> u64 {
    seed ^ (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}
