//! Writes ONNX files: a graph of named tensors, operators between them, inputs and outputs, in Protocol Buffers.

/// Type codes of tensors.
#[derive(Clone, Copy)]
#[allow(dead_code, reason = "the converter of the model uses them all")]
pub(crate) enum Kind {
    F32 = 1,
    I8 = 3,
    I64 = 7,
}

/// The value of an operator's attribute.
#[derive(Clone, Copy)]
#[allow(dead_code, reason = "the converter of the model uses them all")]
pub(crate) enum Attribute<'a> {
    Int(i64),
    Float(f32),
    Ints(&'a [i64]),
}

/// Fields of a message, one after the other.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value > 127 {
            self.0.push(value as u8 & 127 | 128);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn int(mut self, field: u64, value: i64) -> Self {
        self.varint(field << 3);
        self.varint(value.cast_unsigned());
        self
    }

    fn float(mut self, field: u64, value: f32) -> Self {
        self.varint(field << 3 | 5);
        self.0.extend(value.to_le_bytes());
        self
    }

    fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
        self
    }

    fn text(self, field: u64, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }
}

/// A graph under construction.
#[derive(Default)]
pub(crate) struct Graph(Message);

impl Graph {
    /// Adds a constant tensor.
    pub(crate) fn tensor(&mut self, name: &str, kind: Kind, shape: &[usize], little_endian: &[u8]) {
        let mut tensor = Message::default();
        for size in shape {
            tensor = tensor.int(1, size.cast_signed() as i64);
        }
        self.add(5, &tensor.int(2, kind as i64).text(8, name).bytes(9, little_endian));
    }

    /// Adds a constant tensor of floats; without a shape, one value.
    pub(crate) fn floats(&mut self, name: &str, shape: &[usize], values: &[f32]) {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.tensor(name, Kind::F32, shape, &bytes);
    }

    /// Adds a constant list of integers.
    pub(crate) fn ints(&mut self, name: &str, values: &[i64]) {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.tensor(name, Kind::I64, &[values.len()], &bytes);
    }

    /// Adds an operator.
    pub(crate) fn node(&mut self, operator: &str, from: &[&str], to: &[&str], attributes: &[(&str, Attribute<'_>)]) {
        let mut node = Message::default();
        for name in from {
            node = node.text(1, name);
        }
        for name in to {
            node = node.text(2, name);
        }
        node = node.text(3, to[0]).text(4, operator);
        for (name, value) in attributes {
            let attribute = Message::default().text(1, name);
            let attribute = match value {
                Attribute::Float(value) => attribute.float(2, *value).int(20, 1),
                Attribute::Int(value) => attribute.int(3, *value).int(20, 2),
                Attribute::Ints(values) => values.iter().fold(attribute, |it, value| it.int(8, *value)).int(20, 7),
            };
            node = node.bytes(5, &attribute.0);
        }
        self.add(1, &node);
    }

    /// Adds an operator with one output and no attribute.
    pub(crate) fn op(&mut self, operator: &str, from: &[&str], to: &str) {
        self.node(operator, from, &[to], &[]);
    }

    /// Adds an input. A negative size means any size.
    pub(crate) fn input(&mut self, name: &str, kind: Kind, shape: &[i64]) {
        self.add(11, &value(name, kind, shape));
    }

    /// Adds an output. A negative size means any size.
    pub(crate) fn output(&mut self, name: &str, kind: Kind, shape: &[i64]) {
        self.add(12, &value(name, kind, shape));
    }

    /// Returns the file.
    pub(crate) fn file(self) -> Vec<u8> {
        let graph = self.0.text(2, "graph");
        let operators = Message::default().text(1, "").int(2, 17);
        Message::default().int(1, 8).text(2, "cairn").bytes(7, &graph.0).bytes(8, &operators.0).0
    }

    fn add(&mut self, field: u64, message: &Message) {
        self.0 = std::mem::take(&mut self.0).bytes(field, &message.0);
    }
}

fn value(name: &str, kind: Kind, shape: &[i64]) -> Message {
    let mut dimensions = Message::default();
    for (place, size) in shape.iter().enumerate() {
        let dimension = Message::default();
        let dimension = if *size < 0 { dimension.text(2, &format!("{name}.{place}")) } else { dimension.int(1, *size) };
        dimensions = dimensions.bytes(1, &dimension.0);
    }
    let tensor = Message::default().int(1, kind as i64).bytes(2, &dimensions.0);
    Message::default().text(1, name).bytes(2, &Message::default().bytes(1, &tensor.0).0)
}
