//! Vectors whose clusters are known, and how well clusters agree. For tests and benchmarks.

use std::collections::BTreeMap;

/// How vectors are planted: around the centers of groups, which are around topics.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlantedOptions {
    pub(crate) count: usize,
    pub(crate) dimensions: usize,
    pub(crate) topics: usize,
    pub(crate) groups_per_topic: usize,
    /// The deviation from the center of a group, where topics have 1 and groups 0.8 around theirs.
    pub(crate) noise: f32,
    pub(crate) seed: u64,
}

/// Unit vectors one behind the other, and the group of each; the first groups are the largest.
pub(crate) struct Planted {
    pub(crate) vectors: Vec<f32>,
    pub(crate) groups: Vec<u32>,
}

/// Random numbers, separate from those for finding clusters.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Returns a number from 0 up to, and without, 1.
    pub(crate) fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((value ^ (value >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns a number that is distributed normally, near enough: a sum of twelve.
    fn normal(&mut self) -> f32 {
        ((0..12).map(|_| self.unit()).sum::<f64>() - 6.0) as f32
    }

    pub(crate) fn around(&mut self, center: &[f32], deviation: f32) -> Vec<f32> {
        center.iter().map(|value| value + deviation * self.normal()).collect()
    }
}

pub(crate) fn planted(options: PlantedOptions) -> Planted {
    let mut random = Random(options.seed);
    let origin = vec![0.0; options.dimensions];
    let topics: Vec<Vec<f32>> = (0..options.topics).map(|_| random.around(&origin, 1.0)).collect();
    let of_topics = topics.iter().flat_map(|topic| vec![topic; options.groups_per_topic]);
    let centers: Vec<Vec<f32>> = of_topics.map(|topic| random.around(topic, 0.8)).collect();
    let mut planted = Planted { vectors: Vec::new(), groups: Vec::new() };
    planted.vectors.reserve_exact(options.count * options.dimensions);
    for _ in 0..options.count {
        let place = random.unit().powf(1.5) * centers.len() as f64;
        let group = (1..centers.len() as u32).take_while(|at| f64::from(*at) <= place).count();
        let vector = random.around(&centers[group], options.noise);
        let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        planted.vectors.extend(vector.iter().map(|value| value / length));
        planted.groups.push(group as u32);
    }
    planted
}

/// Returns the adjusted Rand index of two partitions (Hubert and Arabie 1985): 1 for the same, 0 for chance.
pub(crate) fn adjusted_rand(a: &[u32], b: &[u32]) -> f64 {
    let pairs = |counts: BTreeMap<(u32, u32), f64>| counts.values().map(|n| n * (n - 1.0) / 2.0).sum::<f64>();
    let counted = |key: &dyn Fn(u32, u32) -> (u32, u32)| {
        let mut counts = BTreeMap::new();
        for (a, b) in a.iter().zip(b) {
            *counts.entry(key(*a, *b)).or_insert(0.0) += 1.0;
        }
        pairs(counts)
    };
    let (both, of_a, of_b) = (counted(&|a, b| (a, b)), counted(&|a, _| (a, 0)), counted(&|_, b| (0, b)));
    let all = a.len() as f64 * (a.len() as f64 - 1.0) / 2.0;
    let chance = of_a * of_b / all;
    (both - chance) / (f64::midpoint(of_a, of_b) - chance)
}
