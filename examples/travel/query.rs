//! Queries of the benchmark: the requirements of a trip.

use super::errors;
use grammata::Result;
use serde::Deserialize;

/// A query of the benchmark: where to, when, for whom, and under which constraints.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Query {
    /// The city in which the trip starts and ends.
    pub org: String,
    /// The city to visit, or the state whose cities to visit.
    pub dest: String,
    /// The number of days: 3, 5 or 7.
    pub days: usize,
    /// The date of each day.
    pub date: Vec<String>,
    /// The number of people.
    pub people_number: u64,
    /// Constraints on rooms, food and transport.
    #[serde(default)]
    pub local_constraint: LocalConstraint,
    /// The most that the trip may cost in total; `None` without a bound.
    pub budget: Option<u64>,
}

/// The constraints of a query on rooms, food and transport.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct LocalConstraint {
    /// What an accommodation must not forbid: `parties`, `smoking`, `children under 10`, `visitors` or `pets`.
    #[serde(rename = "house rule")]
    pub house_rule: Option<String>,
    /// Cuisines, each of which must occur at least once.
    pub cuisine: Option<Vec<String>>,
    /// The wanted room: `shared room`, `not shared room`, `private room` or `entire room`.
    #[serde(rename = "room type")]
    pub room_type: Option<String>,
    /// The excluded transport: `no flight` or `no self-driving`.
    pub transportation: Option<String>,
}

impl Query {
    /// Reads a query in JSON.
    ///
    /// # Errors
    /// `plan/travel`: the text is not a query in JSON, or the query does not have 3, 5 or 7 days, one date for each
    /// day, and 1 to 1,000 people.
    pub fn parse(text: &str) -> Result<Query> {
        let query: Query = serde_json::from_str(text).map_err(|e| errors::travel(&e.to_string()))?;
        if ![3, 5, 7].contains(&query.days) || query.date.len() != query.days {
            return Err(errors::travel("a trip has 3, 5 or 7 days, and a date for each"));
        }
        if query.people_number == 0 || query.people_number > 1_000 {
            return Err(errors::travel("a trip is for 1 to 1,000 people"));
        }
        Ok(query)
    }

    /// Returns the number of cities to visit.
    pub fn cities(&self) -> usize {
        self.days / 2
    }
}

impl LocalConstraint {
    /// Returns whether an accommodation of this type and with these rules satisfies the constraints.
    pub(super) fn allows_room(&self, room_type: &str, house_rules: &str) -> bool {
        let kind = room_type.to_lowercase();
        let wanted = match self.room_type.as_deref() {
            None => true,
            Some("not shared room") => !kind.contains("shared"),
            Some(wanted) => kind.contains(wanted.split(' ').next().unwrap_or_default()),
        };
        let rule = self.house_rule.as_ref().map(|rule| format!("no {}", rule.to_lowercase()));
        wanted && rule.is_none_or(|rule| !house_rules.to_lowercase().contains(&rule))
    }

    /// Returns whether a mode of transport is not excluded: `flight`, `self-driving` or `taxi`.
    pub(super) fn allows_transport(&self, mode: &str) -> bool {
        self.transportation.as_ref().is_none_or(|barred| *barred != format!("no {mode}"))
    }
}
