//! The decoder published as FLAP (Roy et al. 2024, arXiv 2403.05766, section 3). At each token it looks ahead from the
//! most likely candidates to the end of their thought and API. It scores them by the model's probability and by how
//! well the thought and API fit the flows. Comments say how questions are decided that the paper leaves open.

mod decoder;
mod progress;
mod score;
mod segment;

pub use decoder::{FlapDecoder, FlapPlan};
pub use progress::FlapProgress;
pub use score::{FlapOptions, FlapScore, FlapTerms, Incomplete};
