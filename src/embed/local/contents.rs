//! Checks the contents of a model file: an ONNX graph with all its weights inside.
//!
//! In this format, a tensor may name another file for its values. The runtime would read that file, wherever it is, and
//! no checksum of the model covers it. Such models are refused before the runtime sees them.

/// Messages inside messages at most, as the runtime's own reader has it.
const DEPTH_MAX: usize = 100;
/// How a model in the runtime's other format, which is not looked into here, is known.
const OTHER_FORMAT: (usize, &[u8]) = (4, b"ORTM");
/// The field of a tensor that says whether its values are in another file.
const DATA_LOCATION: u64 = 14;

/// Whether a model may be given to the runtime.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Contents {
    /// It has everything in it.
    Whole,
    /// It may not.
    Refused {
        /// Why.
        reason: &'static str,
    },
}

/// The messages of an ONNX file that tensors are in.
#[derive(Debug, Clone, Copy)]
enum Message {
    Model,
    Training,
    Function,
    Graph,
    Node,
    Attribute,
    Sparse,
    Tensor,
}

impl Message {
    /// Returns the contents of a field, if it may contain tensors.
    const fn inner(self, field: u64) -> Option<Self> {
        Some(match (self, field) {
            (Self::Model, 7) | (Self::Training, 1 | 2) | (Self::Attribute, 6 | 11) => Self::Graph,
            (Self::Model, 20) => Self::Training,
            (Self::Model, 25) => Self::Function,
            (Self::Graph, 1) | (Self::Function, 7) => Self::Node,
            (Self::Node, 5) | (Self::Function, 11) => Self::Attribute,
            (Self::Graph, 15) | (Self::Attribute, 22 | 23) => Self::Sparse,
            (Self::Graph, 5) | (Self::Attribute, 5 | 10) | (Self::Sparse, 1 | 2) => Self::Tensor,
            _ => return None,
        })
    }
}

/// Says whether a file may be given to the runtime.
pub(super) fn of(file: &[u8]) -> Contents {
    let refused = |reason| Contents::Refused { reason };
    let (at, mark) = OTHER_FORMAT;
    if file.get(at..).is_some_and(|rest| rest.starts_with(mark)) {
        return refused("the model is in ORT format; ONNX is due");
    }
    match holds_external(Message::Model, file, DEPTH_MAX) {
        Some(false) => Contents::Whole,
        Some(true) => refused("the model has weights in another file, which is not read"),
        None => refused("the model is not an ONNX file"),
    }
}

/// Returns whether the values of a tensor in a message are outside the file; none if it is not such a message.
fn holds_external(message: Message, mut bytes: &[u8], depth: usize) -> Option<bool> {
    let depth = depth.checked_sub(1)?;
    while !bytes.is_empty() {
        let tag = varint(&mut bytes)?;
        let field = tag >> 3;
        match tag & 7 {
            0 => {
                let value = varint(&mut bytes)?;
                if matches!(message, Message::Tensor) && field == DATA_LOCATION && value != 0 {
                    return Some(true);
                }
            }
            1 => drop(take(&mut bytes, 8)?),
            2 => {
                let length = varint(&mut bytes)?;
                let held = take(&mut bytes, usize::try_from(length).ok()?)?;
                if let Some(inner) = message.inner(field)
                    && holds_external(inner, held, depth)?
                {
                    return Some(true);
                }
            }
            5 => drop(take(&mut bytes, 4)?),
            // Groups, which the format does not use, and invalid kinds.
            _ => return None,
        }
    }
    Some(false)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 127) << shift;
        if byte & 128 == 0 {
            return Some(value);
        }
    }
    None
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a field that holds a message or text.
    fn field(number: u8, held: &[u8]) -> Vec<u8> {
        let mut bytes = tag(number, 2);
        bytes.push(u8::try_from(held.len()).unwrap());
        [bytes, held.to_vec()].concat()
    }

    fn tag(number: u8, kind: u8) -> Vec<u8> {
        let tag = u16::from(number) << 3 | u16::from(kind);
        vec![(tag & 127) as u8 | 128, (tag >> 7) as u8]
    }

    fn number(field: u8, value: u8) -> Vec<u8> {
        [tag(field, 0), vec![value]].concat()
    }

    #[test]
    fn a_tensor_with_values_elsewhere_is_found_wherever_it_stands() {
        let outside = |tensor: &[u8]| match of(tensor) {
            Contents::Whole => false,
            Contents::Refused { reason } => {
                assert!(reason.contains("another file"), "{reason}");
                true
            }
        };
        for (value, expect) in [(1, true), (0, false)] {
            let tensor = [field(8, b"weights"), number(14, value)].concat();
            let attribute = field(5, &field(5, &tensor));
            let sparse = field(15, &field(1, &tensor));
            let graphs = [
                field(5, &tensor),
                field(1, &attribute),
                sparse,
                field(1, &field(5, &field(6, &field(5, &tensor)))),
                field(1, &field(5, &field(10, &tensor))),
                field(1, &field(5, &field(22, &field(2, &tensor)))),
            ];
            for graph in &graphs {
                assert_eq!(outside(&[number(1, 8), field(7, graph)].concat()), expect, "{graph:?}");
                assert_eq!(outside(&field(20, &field(1, graph))), expect, "{graph:?}");
            }
            assert_eq!(outside(&field(25, &field(7, &attribute))), expect);
        }
        // The same number means something else in another message.
        assert!(!outside(&field(7, &number(14, 1))));
    }

    #[test]
    fn an_invalid_onnx_file_is_refused() {
        let whole = field(7, &field(5, &number(14, 0)));
        assert_eq!(of(&whole), Contents::Whole);
        assert_eq!(of(b""), Contents::Whole);
        for cut in 1..whole.len() {
            assert!(matches!(of(&whole[..cut]), Contents::Refused { .. }), "{cut}");
        }
        let deep = (0..120).fold(Vec::new(), |inner: Vec<u8>, _| {
            let attribute = tag(6, 2).into_iter().chain([(inner.len() & 127) as u8 | 128, (inner.len() >> 7) as u8]);
            [attribute.collect(), inner].concat()
        });
        let mut nested = &deep[..];
        assert!(holds_external(Message::Attribute, nested, 1).is_none());
        assert!(take(&mut nested, deep.len() + 1).is_none());
        for text in [&b"no model"[..], b"{}", &[0xff; 12], b"\0\0\0\0ORTM"] {
            assert!(matches!(of(text), Contents::Refused { .. }), "{text:?}");
        }
    }
}
