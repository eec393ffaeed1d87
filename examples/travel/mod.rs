//! Trips: plan specs from tables of candidates and a query, in the formats of the TravelPlanner benchmark (Xie et al.
//! 2024), and the benchmark's measures of the resulting trips.
//!
//! The flow is a finite automaton: days in order; on travel days a transport, then breakfast, lunch, an attraction and
//! dinner each day, and an accommodation for the nights until the next move; home again on the last day. Three days see
//! one city, five two, seven three. What the benchmark asks of a trip is in the automaton (complete days, the current
//! city, a closed route, no self-driving together with flights and taxis), in the choice of candidates (room type,
//! house rules, minimum nights, occupancy, transport; each restaurant and attraction is a candidate for one slot of a
//! stay only, so that none comes twice), in limits (each city once, each cuisine asked for at least once) and in
//! `max_cost` (the budget).

mod command;
mod errors;
mod itinerary;
mod query;
mod score;
mod spec;
mod tables;

pub use itinerary::Itinerary;
pub use query::Query;
pub use score::{Report, Score, check};
pub use spec::travel_spec;
pub use tables::TravelTables;

pub use command::run;
