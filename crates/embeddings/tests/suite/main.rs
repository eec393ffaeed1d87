//! The matrix of unit vectors.

use grammata_base::Place;
use grammata_embeddings::Embeddings;

#[test]
fn rows_have_unit_length() {
    let rows = [[3.0, 4.0], [-1e30, 0.0], [1e-30, 1e-30]];
    let embeddings = Embeddings::from_rows(2, rows).unwrap();
    assert_eq!((embeddings.len(), embeddings.dimension(), embeddings.is_empty()), (3, 2, false));
    assert_eq!(embeddings.row(0), Some(&[0.6, 0.8][..]));
    assert_eq!(embeddings.row(1), Some(&[-1.0, 0.0][..]));
    assert_eq!(embeddings.rows().len(), 3);
    assert!(embeddings.cosine(0, 1).is_some_and(|cosine| (cosine + 0.6).abs() < 1e-7));
    assert_eq!((embeddings.row(3), embeddings.cosine(0, 3), embeddings.row(usize::MAX)), (None, None, None));
    assert!(Embeddings::new(2).is_empty());
    assert_eq!((Embeddings::new(0).len(), Embeddings::new(0).row(0)), (0, None));
}

#[test]
fn vectors_without_a_direction_are_refused() {
    let table: [(&[f32], &str); 6] = [
        (&[0.0, 0.0], "decode/embedding-not-finite"),
        (&[f32::NAN, 1.0], "decode/embedding-not-finite"),
        (&[f32::INFINITY, 1.0], "decode/embedding-not-finite"),
        (&[1.0], "decode/embedding-dimension"),
        (&[1.0, 0.0, 0.0], "decode/embedding-dimension"),
        (&[], "decode/embedding-dimension"),
    ];
    for (vector, code) in table {
        let mut embeddings = Embeddings::from_rows(2, [[1.0, 0.0]]).unwrap();
        let error = embeddings.push(vector).unwrap_err();
        assert_eq!(error.code(), code, "{vector:?}");
        assert_eq!(error.diagnostic().place(), &Place::Pointer("/1".to_owned()));
        assert_eq!(embeddings.len(), 1, "{vector:?}");
    }
}
