//! Trips: plan specs from tables of candidates and a query, in the formats of the TravelPlanner benchmark (Xie et al.
//! 2024), and the benchmark's measures of the resulting trips.
//!
//! A spec is a finite automaton of the days in order. A day on which the city changes begins with a transport. Each day
//! has breakfast, lunch, an attraction and dinner; an accommodation follows for the nights in a city, and the last day
//! ends with the way home. A trip of three days has one city, one of five days two, one of seven days three.
//!
//! The requirements of the benchmark are in four parts of the spec: the automaton (complete days, the current city, a
//! closed route, no self-driving together with flights and taxis); the choice of candidates (room type, house rules,
//! minimum nights, occupancy, transport; each restaurant and attraction is a candidate for only one slot of a stay, so
//! that none occurs twice); limits (each city once, each wanted cuisine at least once); and `max_cost` (the budget).

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
