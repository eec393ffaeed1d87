//! The decoder that FLAP publishes (Roy et al. 2024, arXiv 2403.05766, section 3): at each token the most likely candidates
//! are looked ahead from to the end of the thought and API that they belong to, and scored by the model's probability and by
//! how well these fit the flows. What the paper leaves open is decided in the comments.

mod decoder;
mod progress;
mod score;
mod segment;

pub use decoder::{FlapDecoder, FlapPlan};
pub use progress::FlapProgress;
pub use score::{FlapOptions, FlapScore, FlapTerms, Incomplete};
