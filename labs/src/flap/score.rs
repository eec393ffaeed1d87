//! The score of a candidate token.

use super::progress::FlapProgress;
use grammata::error::Result;
use grammata_agents_drive::flows::{Similarity, mixed, nearest, similar};

/// The score of a thought and API that did not end within the look-ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Incomplete {
    /// Zero, as in the published formula: long thoughts are penalised.
    #[default]
    Zero,
    /// The terms of the thought, if the text can still have the format.
    Partial,
}

grammata_base::options! {
    /// The hyper-parameters. The default is FLAP.4 as published.
    #[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(default, deny_unknown_fields)]
    #[non_exhaustive]
    pub struct FlapOptions {
        /// The weight a of the similarity of thought and step. Default 1.
        pub step_weight: f64 = 1.0,
        /// The weight b of the permission of the API. Default 1.
        pub api_weight: f64 = 1.0,
        /// The weight c of the similarity of thought and query. Default 1.
        pub input_weight: f64 = 1.0,
        /// The weight d of the similarity of the thought and the API's description. Default 1.
        pub description_weight: f64 = 1.0,
        /// α of the step under execution. Default 1.
        pub alpha_current: f64 = 1.0,
        /// α of a step in a followed flow. Default 0.5.
        pub alpha_followed: f64 = 0.5,
        /// α of another permitted step. Default 0.1.
        pub alpha_deviation: f64 = 0.1,
        /// β of an API that the domain lacks, or that is neither permitted nor called before. β is 1 for a permitted
        /// API, and 0 for one that was called. Default 0.1.
        pub beta_soft: f64 = 0.1,
        /// The share λ of the heuristic against the model's probability. Default 0.7.
        pub lambda: f64 = 0.7,
        /// The number k of candidates. Default 10.
        pub candidates: usize = 10,
        /// The most tokens L of a look-ahead, the candidate among them. Default 32.
        pub lookahead: usize = 32,
        /// The score of a thought and API that does not end within the look-ahead. Default zero.
        pub incomplete: Incomplete = Incomplete::Zero,
        /// The most tokens of a plan. Default 512.
        pub max_tokens: usize = 512,
        /// The most calls of a plan. Default 30.
        pub max_calls: usize = 30,
    }
}

impl FlapOptions {
    /// Returns a variant of the paper. FLAP.1 omits the term of steps, FLAP.2 the term of the query, FLAP.3 the term of
    /// descriptions. FLAP.4, and any other number, has all terms.
    pub fn variant(number: u8) -> FlapOptions {
        let all = FlapOptions::default();
        match number {
            1 => FlapOptions { step_weight: 0.0, ..all },
            2 => FlapOptions { input_weight: 0.0, ..all },
            3 => FlapOptions { description_weight: 0.0, ..all },
            _ => all,
        }
    }

    /// Returns (1 - λ) `probability` + λ `heuristic`.
    pub fn score(&self, probability: f64, heuristic: f64) -> f64 {
        mixed(self.lambda, probability, heuristic)
    }

    /// Returns the heuristic H: the weighted sum of the terms.
    pub fn heuristic(&self, terms: &FlapTerms) -> f64 {
        self.step_weight * terms.step
            + self.api_weight * terms.api
            + self.input_weight * terms.input
            + self.description_weight * terms.description
    }
}

/// The terms of the heuristic, before their weights.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlapTerms {
    /// α times the similarity of the thought and its nearest step; 0 if that step is not permitted.
    pub step: f64,
    /// β times the similarity of the name to the nearest API.
    pub api: f64,
    /// The similarity of thought and query.
    pub input: f64,
    /// The similarity of the thought and the API's description; of the thought and the name if the domain lacks the
    /// API.
    pub description: f64,
}

/// Scores thoughts and APIs of a plan.
#[derive(Clone, Copy, Debug)]
pub struct FlapScore<'a> {
    /// The hyper-parameters.
    pub options: FlapOptions,
    /// The user's query.
    pub query: &'a str,
}

impl FlapScore<'_> {
    /// Returns the terms of a thought alone: those of the API and its description are 0.
    ///
    /// # Errors
    /// Errors of the similarity.
    pub fn of_thought(
        &self,
        progress: &FlapProgress<'_>,
        thought: &str,
        similarity: &mut dyn Similarity,
    ) -> Result<FlapTerms> {
        let (step, similar_step) = progress.nearest_step(thought, similarity)?;
        let alpha = match progress.permits_step(step) {
            false => 0.0,
            true if step == progress.current() => self.options.alpha_current,
            true if progress.is_followed(step) => self.options.alpha_followed,
            true => self.options.alpha_deviation,
        };
        let input = similar(similarity, thought, self.query)?;
        Ok(FlapTerms { step: alpha * similar_step, input, ..FlapTerms::default() })
    }

    /// Returns the terms of a thought and the name of an API.
    ///
    /// # Errors
    /// Errors of the similarity.
    pub fn of_call(
        &self,
        progress: &FlapProgress<'_>,
        thought: &str,
        name: &str,
        similarity: &mut dyn Similarity,
    ) -> Result<FlapTerms> {
        let terms = self.of_thought(progress, thought, similarity)?;
        let domain = progress.domain();
        let known = domain.api(name);
        let (api, similar_name) = match known {
            Some(api) => (api, 1.0),
            None => {
                let names = domain.apis.iter().enumerate().map(|(place, api)| (place, api.name.as_str()));
                nearest(similarity, name, names)?.unwrap_or_default()
            }
        };
        // the order matters: a name that the domain lacks gets the soft value, even if its nearest API was called
        let beta = match known {
            None => self.options.beta_soft,
            Some(_) if progress.permits_api(api) => 1.0,
            Some(_) if progress.is_called(api) => 0.0,
            Some(_) => self.options.beta_soft,
        };
        let described = known.map_or(name, |api| domain.apis[api].description.as_str());
        let description = similar(similarity, thought, described)?;
        Ok(FlapTerms { api: beta * similar_name, description, ..terms })
    }
}
