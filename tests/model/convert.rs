//! Turns the weights of a BERT sentence encoder (model.safetensors, config.json) into an ONNX model in 8 bits:
//! `FOLDER OUTPUT`. `tests/setup_model.sh` runs it.
//!
//! Weights have one scale per output channel, activations one per call, words one per row. Everything else stays exact.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a tool of the tests fails by panicking")]

#[path = "../it/support/onnx.rs"]
mod onnx;

use std::collections::BTreeSet;
use std::path::Path;

use onnx::Attribute::{Float, Int, Ints};
use onnx::{Graph, Kind};
use serde_json::Value;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [_, folder, output] = args.as_slice() else { panic!("two arguments: FOLDER OUTPUT") };
    std::fs::write(output, convert(Path::new(folder))).unwrap();
}

/// The tensors of a safetensors file.
struct Weights {
    header: Value,
    data: Vec<u8>,
}

impl Weights {
    fn read(path: &Path) -> Self {
        let mut file = std::fs::read(path).unwrap();
        let length = u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
        let data = file.split_off(8 + length);
        Self { header: serde_json::from_slice(&file[8..]).unwrap(), data }
    }

    fn get(&self, name: &str) -> (Vec<usize>, Vec<f32>) {
        let entry = &self.header[name];
        assert_eq!(entry["dtype"], "F32", "{name}");
        let numbers = |value: &Value| -> Vec<usize> { serde_json::from_value(value.clone()).unwrap() };
        let range = numbers(&entry["data_offsets"]);
        let (values, _) = self.data[range[0]..range[1]].as_chunks::<4>();
        (numbers(&entry["shape"]), values.iter().map(|it| f32::from_le_bytes(*it)).collect())
    }
}

/// Returns one code per value and one scale per row.
fn quantize(values: &[f32], rows: usize) -> (Vec<i8>, Vec<f32>) {
    let mut codes = Vec::with_capacity(values.len());
    let mut scales = Vec::with_capacity(rows);
    for row in values.chunks(values.len() / rows) {
        let scale = row.iter().fold(1e-12f32, |most, value| most.max(value.abs())) / 127.0;
        codes.extend(row.iter().map(|value| (value / scale).round() as i8));
        scales.push(scale);
    }
    (codes, scales)
}

fn bytes(codes: &[i8]) -> Vec<u8> {
    codes.iter().map(|code| code.cast_unsigned()).collect()
}

/// An encoder under construction.
struct Encoder {
    weights: Weights,
    graph: Graph,
    epsilon: f32,
    quantized: BTreeSet<String>,
}

fn convert(folder: &Path) -> Vec<u8> {
    let config: Value = serde_json::from_slice(&std::fs::read(folder.join("config.json")).unwrap()).unwrap();
    let number = |name: &str| config[name].as_u64().unwrap() as usize;
    let (layers, hidden, heads) = (number("num_hidden_layers"), number("hidden_size"), number("num_attention_heads"));
    let mut encoder = Encoder {
        weights: Weights::read(&folder.join("model.safetensors")),
        graph: Graph::default(),
        epsilon: config["layer_norm_eps"].as_f64().unwrap() as f32,
        quantized: BTreeSet::new(),
    };
    encoder.constants(hidden, heads);
    encoder.embeddings();
    let mut states = "embedded".to_owned();
    for layer in 0..layers {
        let attended = encoder.attention(layer, &states);
        let last = layer + 1 == layers;
        states = if last { "last_hidden_state".to_owned() } else { format!("l{layer}.states") };
        encoder.feed_forward(layer, &attended, &states);
    }
    let mut graph = encoder.graph;
    for name in ["input_ids", "attention_mask", "token_type_ids"] {
        graph.input(name, Kind::I64, &[-1, -1]);
    }
    graph.output("last_hidden_state", Kind::F32, &[-1, -1, hidden.cast_signed() as i64]);
    graph.file()
}

impl Encoder {
    fn constants(&mut self, hidden: usize, heads: usize) {
        let graph = &mut self.graph;
        graph.ints("first", &[0]);
        graph.ints("middle", &[1, 2]);
        graph.ints("split", &[0, 0, heads.cast_signed() as i64, (hidden / heads).cast_signed() as i64]);
        graph.ints("join", &[0, 0, hidden.cast_signed() as i64]);
        let scale = 1.0 / ((hidden / heads) as f32).sqrt();
        for (name, value) in
            [("one", 1.0), ("hidden", -10_000.0), ("scale", scale), ("sqrt2", 2.0_f32.sqrt()), ("half", 0.5)]
        {
            graph.floats(name, &[], &[value]);
        }
    }

    /// Words, positions and segments; and the mask that hides padding from attention.
    fn embeddings(&mut self) {
        let (shape, words) = self.weights.get("embeddings.word_embeddings.weight");
        let (codes, scales) = quantize(&words, shape[0]);
        self.graph.tensor("words", Kind::I8, &shape, &bytes(&codes));
        self.graph.floats("words.scales", &[shape[0], 1], &scales);
        for (name, tensor) in [("segments", "token_type_embeddings"), ("positions", "position_embeddings")] {
            let (shape, values) = self.weights.get(&format!("embeddings.{tensor}.weight"));
            self.graph.floats(name, &shape, &values);
        }
        let graph = &mut self.graph;
        graph.op("Gather", &["words", "input_ids"], "word.codes");
        graph.node("Cast", &["word.codes"], &["word.floats"], &[("to", Int(1))]);
        graph.op("Gather", &["words.scales", "input_ids"], "word.scales");
        graph.op("Mul", &["word.floats", "word.scales"], "word");
        graph.op("Gather", &["segments", "token_type_ids"], "segment");
        graph.node("Shape", &["input_ids"], &["length"], &[("start", Int(1)), ("end", Int(2))]);
        graph.op("Slice", &["positions", "first", "length", "first"], "position");
        graph.op("Add", &["word", "segment"], "word+segment");
        graph.op("Add", &["word+segment", "position"], "sum");
        graph.node("Cast", &["attention_mask"], &["mask.floats"], &[("to", Int(1))]);
        graph.op("Unsqueeze", &["mask.floats", "middle"], "mask.wide");
        graph.op("Sub", &["one", "mask.wide"], "mask.inverse");
        graph.op("Mul", &["mask.inverse", "hidden"], "mask");
        self.normalize("sum", "embeddings.LayerNorm", "embedded");
    }

    fn attention(&mut self, layer: usize, states: &str) -> String {
        let name = |part: &str| format!("l{layer}.{part}");
        let weights = |part: &str| format!("encoder.layer.{layer}.attention.{part}");
        for (part, order) in [("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3])] {
            self.linear(states, &weights(&format!("self.{part}")), &name(part));
            let parted = name(&format!("{part}.parted"));
            self.graph.op("Reshape", &[&name(part), "split"], &parted);
            let heads = name(&format!("{part}.heads"));
            self.graph.node("Transpose", &[&parted], &[&heads], &[("perm", Ints(&order))]);
        }
        let graph = &mut self.graph;
        graph.op("MatMul", &[&name("query.heads"), &name("key.heads")], &name("products"));
        graph.op("Mul", &[&name("products"), "scale"], &name("scaled"));
        graph.op("Add", &[&name("scaled"), "mask"], &name("masked"));
        graph.node("Softmax", &[&name("masked")], &[&name("shares")], &[("axis", Int(-1))]);
        graph.op("MatMul", &[&name("shares"), &name("value.heads")], &name("mixed.heads"));
        let order = [("perm", Ints(&[0, 2, 1, 3]))];
        graph.node("Transpose", &[&name("mixed.heads")], &[&name("mixed.parted")], &order);
        graph.op("Reshape", &[&name("mixed.parted"), "join"], &name("mixed"));
        self.linear(&name("mixed"), &weights("output.dense"), &name("attended.raw"));
        self.graph.op("Add", &[&name("attended.raw"), states], &name("attended.sum"));
        self.normalize(&name("attended.sum"), &weights("output.LayerNorm"), &name("attended"));
        name("attended")
    }

    fn feed_forward(&mut self, layer: usize, states: &str, to: &str) {
        let name = |part: &str| format!("l{layer}.{part}");
        let weights = |part: &str| format!("encoder.layer.{layer}.{part}");
        self.linear(states, &weights("intermediate.dense"), &name("wide"));
        // GELU, exact: x · (1 + erf(x/√2)) · ½.
        let graph = &mut self.graph;
        graph.op("Div", &[&name("wide"), "sqrt2"], &name("wide.scaled"));
        graph.op("Erf", &[&name("wide.scaled")], &name("wide.erf"));
        graph.op("Add", &[&name("wide.erf"), "one"], &name("wide.gate"));
        graph.op("Mul", &[&name("wide"), &name("wide.gate")], &name("wide.double"));
        graph.op("Mul", &[&name("wide.double"), "half"], &name("wide.active"));
        self.linear(&name("wide.active"), &weights("output.dense"), &name("narrow"));
        self.graph.op("Add", &[&name("narrow"), states], &name("narrow.sum"));
        self.normalize(&name("narrow.sum"), &weights("output.LayerNorm"), to);
    }

    /// to = from · weightᵀ + bias, in 8 bits.
    fn linear(&mut self, from: &str, weights: &str, to: &str) {
        let (shape, values) = self.weights.get(&format!("{weights}.weight"));
        let (_, bias) = self.weights.get(&format!("{weights}.bias"));
        let (outputs, inputs) = (shape[0], shape[1]);
        let (codes, scales) = quantize(&values, outputs);
        let transposed: Vec<i8> =
            (0..inputs).flat_map(|i| codes.iter().skip(i).step_by(inputs).copied().collect::<Vec<_>>()).collect();
        let part = |part: &str| format!("{weights}.{part}");
        let state = |part: &str| format!("{from}.{part}");
        let graph = &mut self.graph;
        graph.tensor(&part("codes"), Kind::I8, &[inputs, outputs], &bytes(&transposed));
        graph.tensor(&part("zeros"), Kind::I8, &[outputs], &vec![0; outputs]);
        graph.floats(&part("scales"), &[outputs], &scales);
        graph.floats(&part("bias"), &[outputs], &bias);
        let (codes, scale, zero) = (state("codes"), state("scale"), state("zero"));
        if self.quantized.insert(from.to_owned()) {
            graph.node("DynamicQuantizeLinear", &[from], &[&codes, &scale, &zero], &[]);
        }
        let out = |part: &str| format!("{to}.{part}");
        graph.op("MatMulInteger", &[&codes, &part("codes"), &zero, &part("zeros")], &out("integers"));
        graph.node("Cast", &[&out("integers")], &[&out("floats")], &[("to", Int(1))]);
        graph.op("Mul", &[&scale, &part("scales")], &out("scales"));
        graph.op("Mul", &[&out("floats"), &out("scales")], &out("product"));
        graph.op("Add", &[&out("product"), &part("bias")], to);
    }

    fn normalize(&mut self, from: &str, weights: &str, to: &str) {
        for part in ["weight", "bias"] {
            let name = format!("{weights}.{part}");
            let (shape, values) = self.weights.get(&name);
            self.graph.floats(&name, &shape, &values);
        }
        let attributes = [("axis", Int(-1)), ("epsilon", Float(self.epsilon))];
        let (weight, bias) = (format!("{weights}.weight"), format!("{weights}.bias"));
        self.graph.node("LayerNormalization", &[from, &weight, &bias], &[to], &attributes);
    }
}
