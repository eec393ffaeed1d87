//! Many sequences of one model on ONNX Runtime: batches, forks, truncation and chosen rows give the logits of feeding
//! from scratch.
#![cfg(feature = "ort")]

use grammata_decode::ort::{ModelOptions, OrtModel};
use grammata_decode::{Feed, Logits, Model, Rows, SequenceId};
use std::path::PathBuf;

fn options() -> ModelOptions {
    ModelOptions::default().threads(1).context_length(Some(128))
}

fn load(name: &str, options: &ModelOptions) -> OrtModel {
    let path = PathBuf::from(crate::ROOT).join("tests/data/tiny-decoder").join(name);
    OrtModel::load(&path, options).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns `count` tokens below 320, which differ between seeds.
fn tokens(seed: u32, count: usize) -> Vec<u32> {
    (0..count as u32).map(|i| (seed * 131 + i * i * 7 + i * 31 + 5) % 320).collect()
}

/// Returns the logits of every position of `tokens`, fed in one call to a new model.
fn from_scratch(name: &str, tokens: &[u32]) -> Vec<Vec<f32>> {
    let mut model = load(name, &options());
    let sequence = model.open().unwrap();
    rows(&model.feed(&[Feed { sequence, tokens, rows: Rows::All }]).unwrap())
}

fn rows(logits: &Logits<'_>) -> Vec<Vec<f32>> {
    (0..logits.len()).map(|row| logits.row(row, &mut vec![]).unwrap().to_vec()).collect()
}

#[track_caller]
fn assert_close(found: &[Vec<f32>], expected: &[Vec<f32>], tolerance: f32) {
    assert_eq!(found.len(), expected.len());
    for (row, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(found.len(), expected.len());
        let far = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(far < tolerance, "row {row}: {far}");
    }
}

fn all(model: &mut OrtModel, feeds: &[(SequenceId, &[u32])]) -> Vec<Vec<f32>> {
    let batch: Vec<_> =
        feeds.iter().map(|&(sequence, tokens)| Feed { sequence, tokens, rows: Rows::All }).collect();
    rows(&model.feed(&batch).unwrap())
}

#[test]
fn a_batch_equals_feeding_one_by_one() {
    for max_batch in [1, 2, 32] {
        let mut model = load("model.onnx", &options().max_batch(max_batch));
        // four sequences, three of them of the same length, are fed in steps
        let texts: Vec<Vec<u32>> =
            [12, 12, 9, 12].iter().enumerate().map(|(i, &n)| tokens(i as u32, n)).collect();
        let ids: Vec<SequenceId> = texts.iter().map(|_| model.open().unwrap()).collect();
        let expected: Vec<Vec<Vec<f32>>> = texts.iter().map(|t| from_scratch("model.onnx", t)).collect();
        for (start, end) in [(0, 5), (5, 6), (6, 9)] {
            let feeds: Vec<(SequenceId, &[u32])> =
                ids.iter().zip(&texts).map(|(&id, text)| (id, &text[start..end])).collect();
            let found = all(&mut model, &feeds);
            let expected: Vec<Vec<f32>> = expected.iter().flat_map(|e| e[start..end].to_vec()).collect();
            assert_close(&found, &expected, 1e-5);
        }
        // a batch of three of the sequences in another order, one of them with more tokens than the others
        let found = all(
            &mut model,
            &[(ids[3], &texts[3][9..10]), (ids[0], &texts[0][9..12]), (ids[1], &texts[1][9..10])],
        );
        let wanted: Vec<Vec<f32>> = [&expected[3][9..10], &expected[0][9..12], &expected[1][9..10]].concat();
        assert_close(&found, &wanted, 1e-5);
        let found = all(&mut model, &[(ids[1], &texts[1][10..12]), (ids[3], &texts[3][10..12])]);
        assert_close(&found, &[&expected[1][10..12], &expected[3][10..12]].concat(), 1e-5);
    }
}

#[test]
fn forks_diverge_as_if_fed_from_scratch() {
    let cases = [("model.onnx", 1e-5, false), ("model-f16.onnx", 2e-2, false), ("model.onnx", 1e-5, true)];
    for (name, tolerance, on_device) in cases {
        let mut model = load(name, &options().on_device(Some(on_device)));
        let prompt = tokens(1, 20);
        let first = model.open().unwrap();
        all(&mut model, &[(first, &prompt)]);
        let forks: Vec<SequenceId> = (0..4).map(|_| model.fork(first).unwrap()).collect();
        let follow: Vec<Vec<u32>> = (2..6).map(|seed| tokens(seed, 6)).collect();
        for step in 0..6 {
            let feeds: Vec<(SequenceId, &[u32])> =
                forks.iter().zip(&follow).map(|(&id, text)| (id, &text[step..=step])).collect();
            let found = all(&mut model, &feeds);
            let expected: Vec<Vec<f32>> = follow
                .iter()
                .map(|text| from_scratch(name, &[&prompt, &text[..=step]].concat()).pop().unwrap())
                .collect();
            assert_close(&found, &expected, tolerance);
        }
        // the first sequence is unchanged; closing a fork twice is allowed, and changes no other sequence
        model.close(forks[0]);
        model.close(forks[0]);
        assert_eq!(model.length(first).unwrap(), 20);
        assert_eq!(model.length(forks[0]).unwrap_err().code(), "decode/no-sequence");
        let expected = from_scratch(name, &[&prompt, &follow[0][..3]].concat());
        assert_close(&all(&mut model, &[(first, &follow[0][..3])]), &expected[20..], tolerance);
        // a fork of a fork, truncated within the prompt, and a fork of the prompt, truncated to nothing
        let cut = model.fork(forks[2]).unwrap();
        model.truncate(cut, 7).unwrap();
        let empty = model.fork(first).unwrap();
        model.truncate(empty, 0).unwrap();
        let text = tokens(9, 4);
        let expected = [
            from_scratch(name, &[&prompt[..7], &text].concat())[7..].to_vec(),
            from_scratch(name, &text),
            from_scratch(name, &[&prompt[..], &follow[2], &text].concat())[26..].to_vec(),
        ];
        let found = all(&mut model, &[(cut, &text), (empty, &text), (forks[2], &text)]);
        assert_close(&found, &expected.concat(), tolerance);
    }
}

#[test]
fn chosen_rows_are_rows_of_all() {
    let (one, two) = (tokens(1, 8), tokens(2, 8));
    let expected = [from_scratch("model.onnx", &one), from_scratch("model.onnx", &two)];
    let table: [(Rows<'_>, &[usize]); 7] = [
        (Rows::None, &[]),
        (Rows::Last, &[7]),
        (Rows::All, &[0, 1, 2, 3, 4, 5, 6, 7]),
        (Rows::At(&[]), &[]),
        (Rows::At(&[0, 7]), &[0, 7]),
        (Rows::At(&[5, 2, 2]), &[5, 2, 2]),
        (Rows::At(&[0, 1, 2, 3, 4, 5, 6, 7]), &[0, 1, 2, 3, 4, 5, 6, 7]),
    ];
    let names = ["model.onnx", "model-last.onnx", "model-keep.onnx"];
    let places = [(1, false), (32, false), (1, true), (32, true)];
    for (name, (max_batch, on_device)) in names.iter().flat_map(|name| places.map(|p| (name, p))) {
        let mut model = load(name, &options().max_batch(max_batch).on_device(Some(on_device)));
        for (of_one, places_one) in &table {
            for (of_two, places_two) in &table {
                let (a, b) = (model.open().unwrap(), model.open().unwrap());
                let batch = [
                    Feed { sequence: a, tokens: &one, rows: *of_one },
                    Feed { sequence: b, tokens: &two, rows: *of_two },
                ];
                let logits = model.feed(&batch).unwrap();
                assert_eq!(matches!(logits, Logits::Device(_)), on_device);
                let found = rows(&logits);
                let places = places_one.iter().map(|&p| (0, p)).chain(places_two.iter().map(|&p| (1, p)));
                let wanted: Vec<Vec<f32>> =
                    places.map(|(text, place)| expected[text][place].clone()).collect();
                assert_close(&found, &wanted, 1e-5);
                assert_eq!(logits.row(found.len(), &mut vec![]).unwrap_err().code(), "decode/row-range");
            }
        }
    }
}

#[test]
fn logits_on_the_device_have_addresses() {
    for (name, half) in [("model.onnx", false), ("model-f16.onnx", true)] {
        let mut model = load(name, &options().on_device(Some(true)));
        let sequence = model.open().unwrap();
        let text = tokens(3, 5);
        let logits = model.feed(&[Feed { sequence, tokens: &text, rows: Rows::At(&[4, 1]) }]).unwrap();
        let Logits::Device(device) = logits else { panic!("the logits were copied") };
        let (last, second) = (device.row(0).unwrap(), device.row(1).unwrap());
        assert_eq!((last.device, last.index, last.length, last.half), ("Cpu", 0, 320, half));
        assert_eq!(last.address - second.address, 3 * 320 * if half { 2 } else { 4 });
        assert_eq!(device.row(2), None);
        let mut copy = vec![0.5; 7];
        device.copy(1, &mut copy).unwrap();
        assert_close(&[copy], &from_scratch(name, &text)[1..2], 1e-5);
    }
}

#[test]
fn errors_leave_every_sequence_as_it_was() {
    for name in ["model.onnx", "model-last.onnx", "model-keep.onnx"] {
        errors_leave_every_sequence(name);
    }
}

fn errors_leave_every_sequence(name: &str) {
    // a context that is longer than the model's tables, so that ONNX Runtime itself fails
    let mut model = load(name, &options().context_length(Some(500)));
    let texts = [tokens(1, 6), tokens(2, 6), tokens(3, 3)];
    let ids: Vec<SequenceId> = (0..3).map(|_| model.open().unwrap()).collect();
    let feeds: Vec<(SequenceId, &[u32])> = ids.iter().zip(&texts).map(|(&id, t)| (id, &t[..])).collect();
    all(&mut model, &feeds);
    let closed = model.open().unwrap();
    model.close(closed);
    let long = [1; 200];
    let feed = |sequence, tokens, rows| Feed { sequence, tokens, rows };
    let table = [
        ("decode/no-tokens", feed(ids[1], &[], Rows::Last)),
        ("decode/token-range", feed(ids[1], &[5, 320], Rows::Last)),
        ("decode/token-range", feed(ids[1], &[u32::MAX], Rows::Last)),
        ("decode/no-sequence", feed(closed, &[1], Rows::Last)),
        ("decode/twice-in-batch", feed(ids[0], &[1], Rows::Last)),
        ("decode/row-range", feed(ids[1], &[1, 2], Rows::At(&[0, 2]))),
        ("decode/context", feed(ids[1], &[1; 495], Rows::Last)),
        ("decode/model-run", feed(ids[1], &long, Rows::Last)),
        // these rows may be computed in several runs, some of which succeed
        ("decode/model-run", feed(ids[1], &long, Rows::At(&[0, 5, 199]))),
    ];
    for (code, wrong) in table {
        // the first and the last feed of the batch are valid
        let batch = [feed(ids[0], &[7], Rows::All), wrong, feed(ids[2], &[9, 9], Rows::None)];
        assert_eq!(model.feed(&batch).unwrap_err().code(), code);
        assert_eq!(ids.iter().map(|&id| model.length(id).unwrap()).collect::<Vec<_>>(), [6, 6, 3]);
    }
    assert_eq!(model.truncate(ids[2], 4).unwrap_err().code(), "decode/truncate");
    assert_eq!(model.truncate(closed, 0).unwrap_err().code(), "decode/no-sequence");
    assert_eq!(model.fork(closed).unwrap_err().code(), "decode/no-sequence");
    assert!(model.feed(&[]).unwrap().is_empty());
    let more = [4, 5];
    let feeds: Vec<(SequenceId, &[u32])> = ids.iter().map(|&id| (id, &more[..])).collect();
    let expected: Vec<Vec<f32>> = texts
        .iter()
        .flat_map(|text| from_scratch("model.onnx", &[text, &more[..]].concat())[text.len()..].to_vec())
        .collect();
    assert_close(&all(&mut model, &feeds), &expected, 1e-5);
}

#[test]
fn a_full_context_ends_one_sequence_only() {
    let mut model = load("model.onnx", &options().context_length(Some(10)));
    let (a, b) = (model.open().unwrap(), model.open().unwrap());
    let text = tokens(1, 10);
    all(&mut model, &[(a, &text), (b, &text[..4])]);
    let both = [(a, 1), (b, 2)].map(|(sequence, _)| Feed { sequence, tokens: &[3], rows: Rows::Last });
    assert_eq!(model.feed(&both).unwrap_err().code(), "decode/context");
    let expected = from_scratch("model.onnx", &[&text[..4], &[3]].concat());
    assert_close(&all(&mut model, &[(b, &[3])]), &expected[4..], 1e-5);
    // a truncated sequence can be fed again
    model.truncate(a, 9).unwrap();
    let expected = from_scratch("model.onnx", &[&text[..9], &[3]].concat());
    assert_close(&all(&mut model, &[(a, &[3])]), &expected[9..], 1e-5);
}
