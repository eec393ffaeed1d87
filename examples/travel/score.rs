//! The benchmark's measures: which constraints a trip satisfies, and rates over many trips.
//!
//! The checks use a trip as the benchmark writes it and the tables, but no plan specs.

use super::itinerary::{Day, Itinerary};
use super::query::Query;
use super::tables::{Accommodation, Restaurant, TravelTables};
use std::collections::BTreeSet;

/// A constraint, and whether a trip satisfies it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The name of the constraint.
    pub name: &'static str,
    /// Whether the query asks for the constraint; otherwise the constraint is common sense.
    pub hard: bool,
    /// Whether the trip satisfies the constraint.
    pub kept: bool,
}

/// The results of checking a trip.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// The checks of common sense, and those of the constraints that the query has.
    pub checks: Vec<Check>,
    /// Whether a trip of at least one day was delivered.
    pub delivered: bool,
}

impl Score {
    fn all(&self, hard: bool) -> bool {
        self.delivered && self.checks.iter().filter(|check| check.hard == hard).all(|check| check.kept)
    }
}

/// Rates over trips, from 0 to 1; 0 if there are no trips or no such checks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// The share of trips that were delivered.
    pub delivery: f64,
    /// The share of common-sense checks that are satisfied. Those of trips that were not delivered count as not
    /// satisfied.
    pub commonsense_micro: f64,
    /// The share of trips that satisfy all common-sense checks.
    pub commonsense_macro: f64,
    /// The share of checks of queries' constraints that are satisfied. Those of trips that were not delivered count as
    /// not satisfied.
    pub hard_micro: f64,
    /// The share of trips that satisfy all constraints of their query.
    pub hard_macro: f64,
    /// The share of trips that satisfy all checks.
    pub final_pass: f64,
}

impl Report {
    /// Computes the rates over scores.
    pub fn of(scores: &[Score]) -> Report {
        let share = |count: usize, of: usize| if of == 0 { 0.0 } else { count as f64 / of as f64 };
        let trips =
            |kept: &dyn Fn(&Score) -> bool| share(scores.iter().filter(|s| kept(s)).count(), scores.len());
        let micro = |hard: bool| {
            let checks = || scores.iter().flat_map(|score| &score.checks).filter(|check| check.hard == hard);
            let kept = scores
                .iter()
                .filter(|score| score.delivered)
                .flat_map(|score| &score.checks)
                .filter(|check| check.hard == hard && check.kept);
            share(kept.count(), checks().count())
        };
        Report {
            delivery: trips(&|score| score.delivered),
            commonsense_micro: micro(false),
            commonsense_macro: trips(&|score| score.all(false)),
            hard_micro: micro(true),
            hard_macro: trips(&|score| score.all(true)),
            final_pass: trips(&|score| score.all(false) && score.all(true)),
        }
    }
}

/// Checks a trip; `None` is a trip that was not delivered.
pub fn check(tables: &TravelTables, query: &Query, trip: Option<&Itinerary>) -> Score {
    let days = trip.map(|trip| trip.days.as_slice()).unwrap_or_default();
    let trip = Trip { tables, query, days };
    let mut checks = Vec::new();
    let mut add = |name, hard, kept: bool| checks.push(Check { name, hard, kept });
    add("complete information", false, trip.is_complete());
    add("within the sandbox", false, trip.is_known());
    add("within the current city", false, trip.is_where_it_is());
    add("reasonable city route", false, trip.is_closed());
    add(
        "diverse restaurants",
        false,
        is_diverse(days.iter().flat_map(|day| [&day.breakfast, &day.lunch, &day.dinner])),
    );
    let attractions = days.iter().flat_map(|day| day.attraction.split(';')).map(str::trim);
    let attractions: Vec<String> = attractions.filter(|name| !name.is_empty()).map(str::to_owned).collect();
    add("diverse attractions", false, is_diverse(attractions.iter()));
    add("non-conflicting transport", false, trip.is_of_one_means());
    add("minimum nights", false, trip.stays_long_enough());
    let constraint = &query.local_constraint;
    if let Some(budget) = query.budget {
        add("budget", true, trip.cost().is_some_and(|cost| cost <= budget));
    }
    let rooms = |fits: &dyn Fn(&Accommodation) -> bool| trip.nights().all(|stay| stay.is_some_and(fits));
    if let Some(rule) = &constraint.house_rule {
        let forbids = format!("no {}", rule.to_lowercase());
        add("room rule", true, rooms(&|stay| !stay.house_rules.to_lowercase().contains(&forbids)));
    }
    if constraint.room_type.is_some() {
        add("room type", true, rooms(&|stay| constraint.allows_room(&stay.room_type, "")));
    }
    if let Some(cuisines) = &constraint.cuisine {
        let eaten: Vec<&String> = trip.meals().flatten().flat_map(|meal| &meal.cuisines).collect();
        add("cuisine", true, cuisines.iter().all(|cuisine| eaten.contains(&cuisine)));
    }
    if let Some(barred) = &constraint.transportation {
        let mode = barred.trim_start_matches("no ");
        add("transport", true, days.iter().all(|day| means(&day.transportation) != Some(mode)));
    }
    Score { checks, delivered: !days.is_empty() }
}

fn is_diverse<'n>(names: impl Iterator<Item = &'n String>) -> bool {
    let mut seen = BTreeSet::new();
    names.filter(|name| *name != "-").all(|name| seen.insert(name))
}

/// Returns the mode of transport that a text names; `None` if it names none.
fn means(transportation: &str) -> Option<&'static str> {
    let lower = transportation.to_lowercase();
    ["flight", "self-driving", "taxi"].into_iter().find(|mode| lower.contains(mode))
}

/// Returns the name and the city in a text `NAME, CITY`.
fn name_and_city(text: &str) -> (&str, &str) {
    text.rsplit_once(", ").unwrap_or((text, ""))
}

struct Trip<'t> {
    tables: &'t TravelTables,
    query: &'t Query,
    days: &'t [Day],
}

impl<'t> Trip<'t> {
    /// Returns the city in which a day begins, and the city in which it ends.
    fn ends(day: &Day) -> (&str, &str) {
        match day.current_city.strip_prefix("from ").and_then(|way| way.split_once(" to ")) {
            Some((from, to)) => (from, to),
            None => (&day.current_city, &day.current_city),
        }
    }

    fn is_complete(&self) -> bool {
        self.days.len() == self.query.days
            && self.days.iter().enumerate().all(|(number, day)| {
                let moves = day.current_city.starts_with("from ");
                let needed = [&day.breakfast, &day.lunch, &day.dinner, &day.attraction];
                needed.iter().all(|what| *what != "-")
                    && moves == (day.transportation != "-")
                    && (number + 1 == self.query.days || day.accommodation != "-")
            })
    }

    fn restaurant(&self, text: &str) -> Option<&'t Restaurant> {
        let (name, city) = name_and_city(text);
        self.tables.restaurants.iter().find(|r| r.name == name && r.city == city)
    }

    fn accommodation(&self, text: &str) -> Option<&'t Accommodation> {
        let (name, city) = name_and_city(text);
        self.tables.accommodations.iter().find(|a| a.name == name && a.city == city)
    }

    fn meals(&self) -> impl Iterator<Item = Option<&'t Restaurant>> {
        let texts = self.days.iter().flat_map(|day| [&day.breakfast, &day.lunch, &day.dinner]);
        texts.filter(|text| *text != "-").map(|text| self.restaurant(text))
    }

    /// Returns the accommodation of each night; `None` if the tables do not have it.
    fn nights(&self) -> impl Iterator<Item = Option<&'t Accommodation>> {
        let texts = self.days.iter().map(|day| &day.accommodation);
        texts.filter(|text| *text != "-").map(|text| self.accommodation(text))
    }

    fn attractions(day: &Day) -> impl Iterator<Item = (&str, &str)> {
        day.attraction
            .split(';')
            .map(str::trim)
            .filter(|text| !text.is_empty() && *text != "-")
            .map(name_and_city)
    }

    fn is_known(&self) -> bool {
        let known = |(name, city): (&str, &str)| {
            self.tables.attractions.iter().any(|a| a.name == name && a.city == city)
        };
        self.meals().all(|meal| meal.is_some())
            && self.nights().all(|stay| stay.is_some())
            && self.days.iter().flat_map(Trip::attractions).all(known)
            && self.days.iter().all(|day| day.transportation == "-" || self.fare(day).is_some())
    }

    fn is_where_it_is(&self) -> bool {
        self.days.iter().all(|day| {
            let (from, to) = Trip::ends(day);
            let here = |city: &str| city == from || city == to;
            [&day.breakfast, &day.lunch, &day.dinner]
                .iter()
                .all(|meal| *meal == "-" || here(name_and_city(meal).1))
                && Trip::attractions(day).all(|(_, city)| here(city))
                && (day.accommodation == "-" || name_and_city(&day.accommodation).1 == to)
        })
    }

    fn is_closed(&self) -> bool {
        let (Some(first), Some(last)) = (self.days.first(), self.days.last()) else { return false };
        let home = self.query.org.as_str();
        let joined = self.days.windows(2).all(|pair| Trip::ends(&pair[0]).1 == Trip::ends(&pair[1]).0);
        let mut visited: Vec<&str> = Vec::new();
        for day in self.days {
            let (from, to) = Trip::ends(day);
            if from != to && to != home {
                if visited.contains(&to) {
                    return false;
                }
                visited.push(to);
            }
        }
        Trip::ends(first).0 == home
            && Trip::ends(last).1 == home
            && joined
            && visited.len() == self.query.cities()
    }

    fn is_of_one_means(&self) -> bool {
        let modes: BTreeSet<_> = self.days.iter().filter_map(|day| means(&day.transportation)).collect();
        !(modes.contains("self-driving") && modes.len() > 1)
    }

    fn stays_long_enough(&self) -> bool {
        let nights: Vec<&String> =
            self.days.iter().map(|day| &day.accommodation).filter(|a| *a != "-").collect();
        let mut place = 0;
        while let Some(name) = nights.get(place) {
            let length = nights[place..].iter().take_while(|other| *other == name).count();
            if self.accommodation(name).is_none_or(|stay| (length as u64) < stay.minimum_nights) {
                return false;
            }
            place += length;
        }
        true
    }

    /// Returns the cost of a day's transport for all people; `None` if the tables do not have the transport.
    fn fare(&self, day: &Day) -> Option<u64> {
        let ((from, to), people) = (Trip::ends(day), self.query.people_number);
        let way = || self.tables.distances.iter().find(|d| d.origin == from && d.destination == to);
        match means(&day.transportation)? {
            "flight" => {
                let date = self.query.date.get(day.days.checked_sub(1)?)?;
                let flight = self.tables.flights.iter().find(|f| {
                    day.transportation.contains(&format!("{},", f.number))
                        && f.origin == from
                        && f.destination == to
                        && f.date == *date
                });
                Some(flight?.price * people)
            }
            "self-driving" => Some((way()?.distance * 5).div_ceil(100) * people.div_ceil(5)),
            _ => Some(way()?.distance * people.div_ceil(4)),
        }
    }

    /// Returns the cost of the trip; `None` if the tables do not have something in it.
    fn cost(&self) -> Option<u64> {
        let mut cost = 0;
        for day in self.days.iter().filter(|day| day.transportation != "-") {
            cost += self.fare(day)?;
        }
        for meal in self.meals() {
            cost += meal?.cost * self.query.people_number;
        }
        for stay in self.nights() {
            let stay = stay?;
            cost += stay.price * self.query.people_number.div_ceil(stay.occupancy.max(1));
        }
        Some(cost)
    }
}
