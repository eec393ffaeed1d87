//! Trips day by day, as the benchmark writes them.

use grammata::syntax::automaton_spec::Spec;
use grammata_agents::plan::Plan;
use serde::{Deserialize, Serialize};

/// One day of a trip. A field without a value is `-`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)] // the fields are those of the benchmark's format
pub struct Day {
    #[serde(alias = "day")]
    pub days: usize,
    pub current_city: String,
    pub transportation: String,
    pub breakfast: String,
    pub attraction: String,
    pub lunch: String,
    pub dinner: String,
    pub accommodation: String,
}

/// A trip, day by day.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Itinerary {
    /// The days, in order.
    pub days: Vec<Day>,
}

impl Itinerary {
    /// Returns the trip that a plan of a [`travel_spec`](super::travel_spec) describes.
    pub fn of(plan: &Plan, spec: &Spec) -> Itinerary {
        let mut trip = Itinerary::default();
        let none = || "-".to_owned();
        for step in plan.executed(spec) {
            let text = step.text(spec);
            let Some((day, what)) = text.strip_prefix("Day ").and_then(|rest| rest.split_once(", ")) else {
                continue;
            };
            let (Ok(day), Some((slot, what))) = (day.parse::<usize>(), what.split_once(": ")) else {
                continue;
            };
            while trip.days.len() < day {
                let last = trip.days.last();
                let city = last.map_or_else(none, |last| last.current_city.clone());
                let accommodation = last.map_or_else(none, |last| last.accommodation.clone());
                trip.days.push(Day {
                    days: trip.days.len() + 1,
                    current_city: city.rsplit_once(" to ").map_or(city.clone(), |(_, to)| to.to_owned()),
                    transportation: none(),
                    breakfast: none(),
                    attraction: none(),
                    lunch: none(),
                    dinner: none(),
                    accommodation,
                });
            }
            let Some(today) = trip.days.last_mut() else { continue };
            match slot {
                "transportation" => {
                    today.transportation = what.to_owned();
                    let way = what.split_once("from ").map_or(what, |(_, way)| way);
                    let way = way.split(',').next().unwrap_or(way);
                    today.current_city = format!("from {way}");
                    today.accommodation = none();
                }
                "breakfast" => today.breakfast = what.to_owned(),
                "attraction" => today.attraction = format!("{what};"),
                "lunch" => today.lunch = what.to_owned(),
                "dinner" => today.dinner = what.to_owned(),
                _ => today.accommodation = what.to_owned(),
            }
        }
        trip
    }
}
