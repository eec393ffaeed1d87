//! Conversion of token bytes to text, and stop strings.

use grammata_decode::TextStream;
use proptest::prelude::*;

#[test]
fn characters_split_across_tokens_come_whole() {
    let mut stream = TextStream::default();
    let mut pieces = Vec::new();
    for bytes in ["a".as_bytes(), &[0xC3], &[0xA9], &[0xF0, 0x9F], &[0x98], &[0x80, b'!']] {
        let mut out = String::new();
        assert_eq!(stream.push(bytes, &mut out), None);
        pieces.push(out);
    }
    assert_eq!(pieces, ["a", "", "é", "", "", "😀!"]);
}

#[test]
fn bytes_that_are_no_text_are_replaced() {
    let mut stream = TextStream::default();
    let mut out = String::new();
    stream.push(&[b'x', 0xFF, 0xC3, b'y', 0xE2, 0x82], &mut out);
    assert_eq!(out, "x\u{FFFD}\u{FFFD}y");
    stream.finish(&mut out);
    assert_eq!(out, "x\u{FFFD}\u{FFFD}y\u{FFFD}");
}

#[test]
fn the_beginning_of_a_stop_string_is_held_back() {
    let mut stream = TextStream::new(["\n\n", "</s>"]);
    let mut out = String::new();
    assert_eq!(stream.push(b"a\n", &mut out), None);
    assert_eq!(out, "a");
    assert_eq!(stream.push(b"b</", &mut out), None);
    assert_eq!(out, "a\nb");
    assert_eq!(stream.push(b"i></s", &mut out), None);
    assert_eq!(out, "a\nb</i>");
    assert_eq!(stream.push(b"> more", &mut out), Some("</s>"));
    assert_eq!(out, "a\nb</i>");
}

proptest! {
    #[test]
    fn any_split_gives_the_lossy_text(bytes in prop::collection::vec(any::<u8>(), 0..60), cuts in prop::collection::vec(0_usize..60, 0..8)) {
        let mut stream = TextStream::default();
        let mut out = String::new();
        let mut at = 0;
        let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c.min(bytes.len())).chain([bytes.len()]).collect();
        cuts.sort_unstable();
        for cut in cuts {
            stream.push(&bytes[at..cut], &mut out);
            at = cut;
        }
        stream.finish(&mut out);
        prop_assert_eq!(out, String::from_utf8_lossy(&bytes).into_owned());
    }

    #[test]
    fn the_first_stop_ends_the_text(text in "[abc]{0,30}", stops in prop::collection::vec("[abc]{1,4}", 1..3), step in 1_usize..5) {
        let mut stream = TextStream::new(stops.clone());
        let mut out = String::new();
        let mut met = false;
        for piece in text.as_bytes().chunks(step) {
            if stream.push(piece, &mut out).is_some() {
                met = true;
                break;
            }
        }
        let first = stops.iter().filter_map(|s| text.find(s.as_str())).min();
        prop_assert_eq!(met, first.is_some());
        if met {
            // since bytes arrive in pieces, of overlapping stop strings the one that ends first may be found
            let ends = stops.iter().filter_map(|s| text.find(s.as_str())).any(|at| out == text[..at]);
            prop_assert!(ends, "{} of {}", out, text);
        } else {
            stream.finish(&mut out);
            prop_assert_eq!(out, text);
        }
    }
}
