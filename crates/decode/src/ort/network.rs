//! The graph that chooses tokens from logits, like [`HostChooser`](crate::choice::HostChooser), in ONNX operators.
//!
//! Four properties of ONNX Runtime's CUDA provider shape the graph:
//!
//! - It has no operators on bits, so a mask is unpacked by a table of 256 rows.
//! - It computes cumulative sums along an axis in time quadratic in the length of the axis, so sums along the
//!   vocabulary are accumulated in two levels.
//! - Its sorts do not define the order of equal values. So top-k and top-p search for the least logit that remains, by
//!   cutting an interval into eight parts ten times, and count equal values by id.
//! - Its minimum and maximum of rows are slow (2.5 ms for 32 rows of 49,152 on an H200); its sums and `TopK` are fast.

use super::graph::{GraphBuilder, Name, whole};
use ort::value::TensorElementType::{self, Bool, Float32, Float64, Int32, Int64, Uint8};

/// The features of a graph in addition to choosing the token with the greatest logit. Each feature costs time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Kind {
    /// The graph draws at a temperature. The filters top-k, top-p and min-p require it.
    pub(super) draws: bool,
    pub(super) top_k: bool,
    pub(super) top_p: bool,
    pub(super) min_p: bool,
    /// The graph returns the log-probability of the token.
    pub(super) scores: bool,
    /// The graph returns the logits after mask and penalty, for tests.
    pub(super) shows: bool,
}

/// Number of tokens in one part of the vocabulary. Sums are first computed for each part.
const PART: usize = 256;
/// Weights of exp(-104) and less are zero as 32-bit floats.
const LEAST: f32 = -104.0;
/// Length of the interval, from `LEAST` to a value above 0, in which the least logit that remains is searched for.
const SPAN: f32 = 112.0;
/// Number of cuts of an interval in one round of the search for the least logit that remains. They divide the interval
/// into 8 parts, one of which is searched in the next round.
const CUTS: usize = 7;
/// Number of rounds. They divide the interval into 8^10 parts, which are as fine as 32-bit floats near -1.
const ROUNDS: u32 = 10;

struct Network {
    g: GraphBuilder,
    vocabulary: usize,
    /// ids of tokens as floats, `[1, vocabulary]`; exact below 2^24
    ids: Name,
    nothing: Name,
}

/// Builds the graph for logits of shape `[_, _, vocabulary]` and type `logits`. For N choices it has the input `logits`
/// and these inputs, N by 1 unless noted:
///
/// - `rows` (i64, N): indices among all rows of `logits`;
/// - `mask` (u8, N by 4 times the number of words of a mask), little-endian;
/// - `penalised` (i64, N by any number): ids; `penalty` (f32): the repetition penalty;
/// - if it draws, `temperature` (f32), `greedy` (bool: whether to choose the token with the greatest logit instead),
///   `uniform` (f64), and, of `top_k`, `top_p` and `min_p` (f32), those of the filters that it has.
///
/// Its outputs are `tokens` (i64; -1 if no allowed token has a probability); if it scores, `scores` (f32), the
/// log-probabilities of the tokens; and if it shows them, `masked` (f32, N by vocabulary), the logits after mask and
/// penalty.
pub(super) fn build(vocabulary: usize, logits: TensorElementType, kind: Kind) -> ort::Result<GraphBuilder> {
    let mut g = GraphBuilder::new()?;
    let width = vocabulary as i64;
    let ids: Vec<f32> = (0..vocabulary).map(|id| id as f32).collect();
    let ids = g.constant(&[1, width], &ids)?;
    let nothing = g.constant(&[1, 1], &[f32::NEG_INFINITY])?;
    let given = g.input("logits", logits, &[-1, -1, width]);
    let rows = g.input("rows", Int64, &[-1]);
    let flat = g.constant(&[2], &[-1, width])?;
    let flat = g.op("Reshape", [&given, &flat], vec![])?;
    let chosen = g.op("Gather", [&flat, &rows], vec![whole("axis", 0)?])?;
    let raw = g.op("Cast", [&chosen], vec![to(Float32)?])?;
    let mut net = Network { g, vocabulary, ids, nothing };
    let unknown = net.g.op("IsNaN", [&raw], vec![])?;
    let raw = net.g.op("Where", [&unknown, &net.nothing, &raw], vec![])?;
    let penalised = net.penalised(&raw)?;
    let allowed = net.allowed()?;
    let masked = net.g.op("Where", [&allowed, &penalised, &net.nothing], vec![])?;
    let greatest = net.greatest(&masked)?;
    let any = net.g.op("Greater", [&greatest, &net.nothing], vec![])?;
    let mut token = net.first_of_greatest(&masked, &greatest)?;
    if kind.draws {
        let drawn = net.drawn(&masked, &greatest, kind)?;
        let greedy = net.g.input("greedy", Bool, &[-1, 1]);
        token = net.g.op("Where", [&greedy, &token, &drawn], vec![])?;
    }
    let none = net.g.constant(&[1, 1], &[-1.0_f32])?;
    let token = net.g.op("Where", [&any, &token, &none], vec![])?;
    let token = net.g.op("Cast", [&token], vec![to(Int64)?])?;
    if kind.scores {
        let scores = net.scores(&raw, &token)?;
        net.g.output("scores", &scores, Float32, &[-1, 1])?;
    }
    if kind.shows {
        net.g.output("masked", &masked, Float32, &[-1, width])?;
    }
    net.g.output("tokens", &token, Int64, &[-1, 1])?;
    Ok(net.g)
}

fn to(kind: TensorElementType) -> ort::Result<ort::operator::Attribute> {
    // the numbers of TensorProto.DataType in ONNX
    let number = match kind {
        Int32 => 6,
        Int64 => 7,
        Bool => 9,
        Float64 => 11,
        _ => 1,
    };
    whole("to", number)
}

impl Network {
    /// Returns the sum along the last axis, which then has length 1.
    fn sum(&mut self, value: &str) -> ort::Result<Name> {
        let axes = self.g.constant(&[1], &[-1_i64])?;
        self.g.op("ReduceSum", [value, &axes], vec![whole("keepdims", 1)?])
    }

    /// Returns the number of true values along the last axis, as a float.
    fn count(&mut self, holds: &str) -> ort::Result<Name> {
        let ones = self.g.op("Cast", [holds], vec![to(Float32)?])?;
        self.sum(&ones)
    }

    /// Returns the greatest value of each row.
    fn greatest(&mut self, rows: &str) -> ort::Result<Name> {
        let one = self.g.constant(&[1], &[1_i64])?;
        self.g.op("TopK", [rows, &one], vec![whole("sorted", 0)?])
    }

    fn scalar(&mut self, value: f32) -> ort::Result<Name> {
        self.g.constant(&[1, 1], &[value])
    }

    /// Returns the logits after the repetition penalty. If an id occurs several times, the same value is written each
    /// time.
    fn penalised(&mut self, raw: &str) -> ort::Result<Name> {
        let ids = self.g.input("penalised", Int64, &[-1, -1]);
        let penalty = self.g.input("penalty", Float32, &[-1, 1]);
        let zero = self.scalar(0.0)?;
        let old = self.g.op("GatherElements", [raw, &ids], vec![whole("axis", 1)?])?;
        let positive = self.g.op("Greater", [&old, &zero], vec![])?;
        let less = self.g.op("Div", [&old, &penalty], vec![])?;
        let more = self.g.op("Mul", [&old, &penalty], vec![])?;
        let new = self.g.op("Where", [&positive, &less, &more], vec![])?;
        self.g.op("ScatterElements", [raw, &ids, &new], vec![whole("axis", 1)?])
    }

    /// Returns the mask as booleans, N by vocabulary.
    fn allowed(&mut self) -> ort::Result<Name> {
        let bytes = self.vocabulary.div_ceil(32) * 4;
        let mask = self.g.input("mask", Uint8, &[-1, bytes as i64]);
        let mask = self.g.op("Cast", [&mask], vec![to(Int32)?])?;
        let bits: Vec<bool> = (0..256 * 8).map(|place| (place / 8) >> (place % 8) & 1 != 0).collect();
        let table = self.g.constant(&[256, 8], &bits)?;
        let bits = self.g.op("Gather", [&table, &mask], vec![whole("axis", 0)?])?;
        let shape = self.g.constant(&[2], &[-1, bytes as i64 * 8])?;
        let bits = self.g.op("Reshape", [&bits, &shape], vec![])?;
        if bytes * 8 == self.vocabulary {
            return Ok(bits);
        }
        let (start, end) =
            (self.g.constant(&[1], &[0_i64])?, self.g.constant(&[1], &[self.vocabulary as i64])?);
        let axis = self.g.constant(&[1], &[1_i64])?;
        self.g.op("Slice", [&bits, &start, &end, &axis], vec![])
    }

    /// Returns the lowest id with the greatest logit, as a float.
    fn first_of_greatest(&mut self, masked: &str, greatest: &str) -> ort::Result<Name> {
        let equal = self.g.op("Equal", [masked, greatest], vec![])?;
        let equal = self.g.op("Cast", [&equal], vec![to(Float32)?])?;
        let zero = self.g.constant(&[1, 1], &[0.0_f64])?;
        self.locate(&equal, &zero)
    }

    /// Returns a drawn token for each choice, as a float.
    fn drawn(&mut self, masked: &str, greatest: &str, kind: Kind) -> ort::Result<Name> {
        let temperature = self.g.input("temperature", Float32, &[-1, 1]);
        let uniform = self.g.input("uniform", Float64, &[-1, 1]);
        // logits of plus infinity count as the greatest finite number
        let (low, high) = (self.scalar(f32::MIN)?, self.scalar(f32::MAX)?);
        let mut finite = |value: &str| {
            let value = self.g.op("Max", [value, &low], vec![])?;
            self.g.op("Min", [&value, &high], vec![])
        };
        let (logits, top) = (finite(masked)?, finite(greatest)?);
        let below = self.g.op("Sub", [&logits, &top], vec![])?;
        let below = self.g.op("Div", [&below, &temperature], vec![])?;
        let least = self.scalar(LEAST)?;
        let below = self.g.op("Max", [&below, &least], vec![])?;
        let live = self.g.op("Greater", [masked, &self.nothing.clone()], vec![])?;
        let weights = self.g.op("Exp", [&below], vec![])?;
        let zero = self.scalar(0.0)?;
        let weights = self.g.op("Where", [&live, &weights, &zero], vec![])?;
        let weights = self.filtered(&below, &live, weights, kind)?;
        let total = self.sum(&weights)?;
        let total = self.g.op("Cast", [&total], vec![to(Float64)?])?;
        let place = self.g.op("Mul", [&total, &uniform], vec![])?;
        self.locate(&weights, &place)
    }

    /// Returns the weights after top-k, top-p and min-p; tokens that are filtered out get weight 0.
    fn filtered(&mut self, below: &str, live: &str, mut weights: Name, kind: Kind) -> ort::Result<Name> {
        let zero = self.scalar(0.0)?;
        if kind.top_k {
            let top_k = self.g.input("top_k", Float32, &[-1, 1]);
            let ones = self.g.op("Cast", [live], vec![to(Float32)?])?;
            // the goal is half a token lower, so that rounding neither drops the last token nor adds one
            let half = self.scalar(0.5)?;
            let goal = self.g.op("Sub", [&top_k, &half], vec![])?;
            let kept = self.upper(below, &ones, &goal)?;
            weights = self.g.op("Where", [&kept, &weights, &zero], vec![])?;
        }
        if kind.top_p {
            let top_p = self.g.input("top_p", Float32, &[-1, 1]);
            let total = self.sum(&weights)?;
            let nearly = self.scalar(1.0 - 1e-6)?;
            let goal = self.g.op("Mul", [&total, &top_p], vec![])?;
            let goal = self.g.op("Mul", [&goal, &nearly], vec![])?;
            let kept = self.upper(below, &weights, &goal)?;
            let one = self.scalar(1.0)?;
            let all = self.g.op("GreaterOrEqual", [&top_p, &one], vec![])?;
            let kept = self.g.op("Or", [&kept, &all], vec![])?;
            weights = self.g.op("Where", [&kept, &weights, &zero], vec![])?;
        }
        if kind.min_p {
            let min_p = self.g.input("min_p", Float32, &[-1, 1]);
            let enough = self.g.op("GreaterOrEqual", [&weights, &min_p], vec![])?;
            weights = self.g.op("Where", [&enough, &weights, &zero], vec![])?;
        }
        Ok(weights)
    }

    /// Returns, as booleans, the fewest tokens, taken by falling `below` and rising id, whose `values` sum to at least
    /// `goal`.
    fn upper(&mut self, below: &str, values: &str, goal: &str) -> ort::Result<Name> {
        let axis = self.g.constant(&[1], &[1_i64])?;
        let (below3, values3) = (
            self.g.op("Unsqueeze", [below, &axis], vec![])?,
            self.g.op("Unsqueeze", [values, &axis], vec![])?,
        );
        let zero = self.g.constant(&[1, 1, 1], &[0.0_f32])?;
        let mut low = self.scalar(LEAST)?;
        let mut step = SPAN;
        for _ in 0..ROUNDS {
            step /= (CUTS + 1) as f32;
            let cuts: Vec<f32> = (1..=CUTS).map(|cut| cut as f32 * step).collect();
            let cuts = self.g.constant(&[1, CUTS as i64], &cuts)?;
            let cuts = self.g.op("Add", [&low, &cuts], vec![])?;
            let last = self.g.constant(&[1], &[2_i64])?;
            let cuts = self.g.op("Unsqueeze", [&cuts, &last], vec![])?;
            let above = self.g.op("GreaterOrEqual", [&below3, &cuts], vec![])?;
            let above = self.g.op("Where", [&above, &values3, &zero], vec![])?;
            let sums = self.g.constant(&[1], &[2_i64])?;
            let sums = self.g.op("ReduceSum", [&above, &sums], vec![whole("keepdims", 0)?])?;
            let reached = self.g.op("GreaterOrEqual", [&sums, goal], vec![])?;
            let reached = self.count(&reached)?;
            let width = self.scalar(step)?;
            let moved = self.g.op("Mul", [&reached, &width], vec![])?;
            low = self.g.op("Add", [&low, &moved], vec![])?;
        }
        let width = self.scalar(step)?;
        let high = self.g.op("Add", [&low, &width], vec![])?;
        // far from zero a step may be smaller than the distance between two neighbouring floats
        let nearer = self.scalar(1.0 - 2.0_f32.powi(-22))?;
        let nearer = self.g.op("Mul", [&low, &nearer], vec![])?;
        let high = self.g.op("Max", [&high, &nearer], vec![])?;
        let certain = self.g.op("GreaterOrEqual", [below, &high], vec![])?;
        let reached = self.g.op("GreaterOrEqual", [below, &low], vec![])?;
        let flat = self.scalar(0.0)?;
        let sure = self.g.op("Where", [&certain, values, &flat], vec![])?;
        let sum = self.sum(&sure)?;
        let missing = self.g.op("Sub", [goal, &sum], vec![])?;
        // tokens between `low` and `high` count as equal: as many are kept as are missing
        let equals = self.g.op("Where", [&reached, values, &flat], vec![])?;
        let equals = self.g.op("Sub", [&equals, &sure], vec![])?;
        let missing = self.g.op("Cast", [&missing], vec![to(Float64)?])?;
        let last = self.locate(&equals, &missing)?;
        let early = self.g.op("LessOrEqual", [&self.ids.clone(), &last], vec![])?;
        let equals = self.g.op("And", [&reached, &early], vec![])?;
        self.g.op("Or", [&certain, &equals], vec![])
    }

    /// Returns, as a float, the first id at which the cumulative sum of `values` exceeds `place` (f64, N by 1). If
    /// there is none, returns the last id with a positive value, or 0 if no value is positive.
    fn locate(&mut self, values: &str, place: &str) -> ort::Result<Name> {
        let parts = self.vocabulary.div_ceil(PART);
        let missing = parts * PART - self.vocabulary;
        let mut padded = values.to_owned();
        if missing > 0 {
            let pads = self.g.constant(&[4], &[0_i64, 0, 0, missing as i64])?;
            padded = self.g.op("Pad", [&padded, &pads], vec![])?;
        }
        let shape = self.g.constant(&[3], &[-1, parts as i64, PART as i64])?;
        let cube = self.g.op("Reshape", [&padded, &shape], vec![])?;
        let axis = self.g.constant(&[1], &[2_i64])?;
        let sums = self.g.op("ReduceSum", [&cube, &axis], vec![whole("keepdims", 0)?])?;
        let (part, before) = self.passed(&sums, place, parts)?;
        // the sum of all parts before this part, and the values of this part
        let index = self.g.op("Cast", [&part], vec![to(Int64)?])?;
        let before = self.g.op("GatherElements", [&before, &index], vec![whole("axis", 1)?])?;
        let inside = self.g.op("GatherND", [&cube, &index], vec![whole("batch_dims", 1)?])?;
        let left = self.g.op("Sub", [place, &before], vec![])?;
        let (token, _) = self.passed(&inside, &left, PART)?;
        let size = self.scalar(PART as f32)?;
        let first = self.g.op("Mul", [&part, &size], vec![])?;
        self.g.op("Add", [&first, &token], vec![])
    }

    /// Returns the first of `count` indices at which the cumulative sum of `values` exceeds `place`, as a float, but at
    /// most the last index with a positive value (0 if there is none); and, for each index, the sum of the values
    /// before it (f64).
    fn passed(&mut self, values: &str, place: &str, count: usize) -> ort::Result<(Name, Name)> {
        let exact = self.g.op("Cast", [values], vec![to(Float64)?])?;
        let axis = self.g.constant(&[1], &[1_i64])?;
        let sums = self.g.op("CumSum", [&exact, &axis], vec![])?;
        let before = self.g.op("Sub", [&sums, &exact], vec![])?;
        let passed = self.g.op("LessOrEqual", [&sums, place], vec![])?;
        let first = self.count(&passed)?;
        // the first index at which the sum reaches its final value
        let end = self.g.constant(&[1], &[count as i64 - 1])?;
        let end = self.g.op("Gather", [&sums, &end], vec![whole("axis", 1)?])?;
        let short = self.g.op("Less", [&sums, &end], vec![])?;
        let last = self.count(&short)?;
        Ok((self.g.op("Min", [&first, &last], vec![])?, before))
    }

    /// Returns the log-probability of each token among all tokens of its row at temperature 1.
    fn scores(&mut self, raw: &str, token: &str) -> ort::Result<Name> {
        let greatest = self.greatest(raw)?;
        let equal = self.g.op("Equal", [raw, &greatest], vec![])?;
        let zero = self.scalar(0.0)?;
        let below = self.g.op("Sub", [raw, &greatest], vec![])?;
        // infinity minus infinity would be NaN
        let below = self.g.op("Where", [&equal, &zero, &below], vec![])?;
        let weights = self.g.op("Exp", [&below], vec![])?;
        let total = self.sum(&weights)?;
        let total = self.g.op("Log", [&total], vec![])?;
        let first = self.g.constant(&[1, 1], &[0_i64])?;
        let token = self.g.op("Max", [token, &first], vec![])?;
        let chosen = self.g.op("GatherElements", [&below, &token], vec![whole("axis", 1)?])?;
        self.g.op("Sub", [&chosen, &total], vec![])
    }
}
