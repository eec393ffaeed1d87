//! Builds the plan spec of a query.

use super::errors;
use super::query::Query;
use super::tables::TravelTables;
use grammata::Result;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The slots of a day after its transport.
const SLOTS: [&str; 4] = ["breakfast", "lunch", "attraction", "dinner"];

/// The most days of a stay in a city. A city has only one stay. The attractions and restaurants of a city are divided
/// among this many days in turn, so none can be chosen twice.
const STAY: usize = 3;

/// Returns the plan spec of a query over tables, in JSON, with at most `candidates` candidates for each slot.
///
/// # Errors
/// `plan/travel`: apart from the start, the tables have no city that is the destination or lies in it.
pub fn travel_spec(tables: &TravelTables, query: &Query, candidates: usize) -> Result<Value> {
    let cities: Vec<&str> = tables
        .cities
        .iter()
        .filter(|(city, state)| (*city == query.dest || *state == query.dest) && *city != query.org)
        .map(|(city, _)| city.as_str())
        .collect();
    if cities.is_empty() {
        return Err(errors::travel(&format!("no city of the tables is `{}`, or lies there", query.dest)));
    }
    let mut spec = Spec {
        tables,
        query,
        candidates,
        symbols: Map::new(),
        transitions: Vec::new(),
        groups: BTreeSet::new(),
    };
    for day in 1..=query.days {
        for &city in &cities {
            spec.day(day, city, &cities);
        }
    }
    Ok(spec.finish(&cities))
}

struct Spec<'t> {
    tables: &'t TravelTables,
    query: &'t Query,
    candidates: usize,
    symbols: Map<String, Value>,
    transitions: Vec<Value>,
    groups: BTreeSet<String>,
}

impl Spec<'_> {
    fn symbol(&mut self, id: String, symbol: Value, from: &str, to: &str) {
        self.transitions.push(json!({ "from": from, "input": id, "to": to }));
        self.symbols.entry(id).or_insert(symbol);
    }

    /// Adds all steps that are possible on a day in a city, for trips by `own` means (a car) and by `other` means.
    fn day(&mut self, day: usize, city: &str, cities: &[&str]) {
        let moves = day % 2 == 1;
        if moves && day < self.query.days {
            // to the city: from home, or from another one
            let starts = if day == 1 { vec![self.query.org.as_str()] } else { cities.to_vec() };
            for origin in starts.into_iter().filter(|origin| *origin != city) {
                let from = |means: &str| {
                    if day == 1 { "start".to_owned() } else { format!("d{day}.{means}.{origin}") }
                };
                self.travel(
                    day,
                    origin,
                    city,
                    from,
                    |means| format!("d{day}.{means}.{city}.breakfast"),
                    true,
                );
            }
        }
        for means in ["own", "other"] {
            for (place, slot) in SLOTS.iter().enumerate() {
                // on the second day in a city, and on the last, nothing comes before breakfast
                let stays = !moves || day == self.query.days;
                let from = if place == 0 && stays {
                    format!("d{day}.{means}.{city}")
                } else {
                    format!("d{day}.{means}.{city}.{slot}")
                };
                let to = match SLOTS.get(place + 1) {
                    Some(next) => format!("d{day}.{means}.{city}.{next}"),
                    None if day == self.query.days => format!("d{day}.{means}.{city}.home"),
                    None if moves => format!("d{day}.{means}.{city}.night"),
                    None => format!("d{}.{means}.{city}", day + 1),
                };
                self.slot(day, city, slot, &from, &to);
            }
            if moves && day < self.query.days {
                let (from, to) =
                    (format!("d{day}.{means}.{city}.night"), format!("d{}.{means}.{city}", day + 1));
                self.night(day, city, &from, &to);
            }
        }
        if day == self.query.days {
            let from = |means: &str| format!("d{day}.{means}.{city}.home");
            let home = self.query.org.clone();
            self.travel(day, city, &home, from, |_| "home".to_owned(), false);
        }
    }

    fn travel(
        &mut self,
        day: usize,
        origin: &str,
        destination: &str,
        from: impl Fn(&str) -> String,
        to: impl Fn(&str) -> String,
        counts: bool,
    ) {
        let group: Vec<String> = if counts { vec![format!("city {destination}")] } else { Vec::new() };
        self.groups.extend(group.iter().cloned());
        let (people, tables) = (self.query.people_number, self.tables);
        let constraint = &self.query.local_constraint;
        let date = self.query.date.get(day - 1).cloned().unwrap_or_default();
        let mut found: Vec<(String, String, u64, &str)> = Vec::new();
        if constraint.allows_transport("flight") {
            let mut flights: Vec<_> = tables
                .flights
                .iter()
                .filter(|f| f.origin == origin && f.destination == destination && f.date == date)
                .collect();
            flights.sort_by_key(|flight| flight.price);
            for flight in flights.into_iter().take(self.candidates) {
                let text = format!(
                    "Flight Number: {}, from {origin} to {destination}, Departure Time: {}, Arrival Time: {}",
                    flight.number, flight.departure, flight.arrival
                );
                found.push((format!("flight {}", flight.number), text, flight.price * people, "other"));
            }
        }
        let way = tables.distances.iter().find(|d| d.origin == origin && d.destination == destination);
        for (mode, seats, cents, means) in [("self-driving", 5, 5, "own"), ("taxi", 4, 100, "other")] {
            if let Some(way) = way.filter(|_| constraint.allows_transport(mode)) {
                let cost = (way.distance * cents).div_ceil(100) * people.div_ceil(seats);
                let text = format!("{}, from {origin} to {destination}", capital(mode));
                found.push((mode.to_owned(), text, cost, means));
            }
        }
        for (name, text, cost, means) in found {
            let id = format!("day {day} {name} {origin} to {destination}");
            let symbol =
                json!({ "text": format!("Day {day}, transportation: {text}"), "cost": cost, "group": group });
            // the first transport decides which means the others may have
            self.symbol(id, symbol, &from(means), &to(means));
        }
    }

    fn slot(&mut self, day: usize, city: &str, slot: &str, from: &str, to: &str) {
        let tables = self.tables;
        if slot == "attraction" {
            let own: Vec<_> = tables.attractions.iter().filter(|a| a.city == city).collect();
            for attraction in own.iter().skip(day % STAY).step_by(STAY).take(self.candidates) {
                let id = format!("day {day} attraction {}, {city}", attraction.name);
                let symbol = json!({ "text": format!("Day {day}, attraction: {}, {city}", attraction.name) });
                self.symbol(id, symbol, from, to);
            }
            return;
        }
        // each restaurant is a candidate for one meal of one day of a stay
        let meal =
            SLOTS.iter().filter(|slot| **slot != "attraction").position(|own| *own == slot).unwrap_or(0);
        let (place, meals) = ((day % STAY) * 3 + meal, STAY * 3);
        let mut own: Vec<_> = tables.restaurants.iter().filter(|r| r.city == city).collect();
        own.sort_by_key(|restaurant| restaurant.cost);
        for restaurant in own.iter().skip(place).step_by(meals).take(self.candidates) {
            let wanted = self.query.local_constraint.cuisine.iter().flatten();
            let group: Vec<String> = wanted
                .filter(|cuisine| restaurant.cuisines.contains(cuisine))
                .map(|c| format!("cuisine {c}"))
                .collect();
            let id = format!("day {day} {slot} {}, {city}", restaurant.name);
            let text = format!("Day {day}, {slot}: {}, {city}", restaurant.name);
            let cost = restaurant.cost * self.query.people_number;
            self.symbol(id, json!({ "text": text, "cost": cost, "group": group }), from, to);
        }
    }

    fn night(&mut self, day: usize, city: &str, from: &str, to: &str) {
        const NIGHTS: u64 = 2;
        let (tables, query) = (self.tables, self.query);
        let mut own: Vec<_> = tables
            .accommodations
            .iter()
            .filter(|a| a.city == city && a.minimum_nights <= NIGHTS && a.occupancy > 0)
            .filter(|a| query.local_constraint.allows_room(&a.room_type, &a.house_rules))
            .collect();
        own.sort_by_key(|accommodation| accommodation.price);
        for accommodation in own.into_iter().take(self.candidates) {
            let rooms = query.people_number.div_ceil(accommodation.occupancy);
            let id = format!("day {day} accommodation {}, {city}", accommodation.name);
            let text = format!("Day {day}, accommodation: {}, {city}", accommodation.name);
            let symbol =
                json!({ "text": text, "cost": accommodation.price * rooms * NIGHTS, "duration": NIGHTS });
            self.symbol(id, symbol, from, to);
        }
    }

    fn finish(self, cities: &[&str]) -> Value {
        let query = self.query;
        let mut states: BTreeSet<String> = BTreeSet::from(["start".to_owned(), "home".to_owned()]);
        for transition in &self.transitions {
            for end in ["from", "to"] {
                states.extend(transition.get(end).and_then(Value::as_str).map(str::to_owned));
            }
        }
        let mut at_least = Map::new();
        for cuisine in query.local_constraint.cuisine.iter().flatten() {
            at_least.insert(format!("cuisine {cuisine}"), json!(1));
        }
        let mut limits = json!({ "at_most_once": self.groups, "at_least": at_least });
        if let (Some(budget), Some(object)) = (query.budget, limits.as_object_mut()) {
            object.insert("max_cost".to_owned(), json!(budget));
        }
        let task = format!(
            "Plan a trip of {} days from {} to {}, for {} people{}.",
            query.days,
            query.org,
            if cities.len() > 1 {
                format!("{} cities of {}", query.cities(), query.dest)
            } else {
                query.dest.clone()
            },
            query.people_number,
            query.budget.map(|budget| format!(", for at most {budget} dollars")).unwrap_or_default(),
        );
        json!({
            "kind": "dfa",
            "name": "travel",
            "description": "A trip, day by day: transport, meals, attractions and nights.",
            "source": "the rules of TravelPlanner (Xie et al. 2024, arXiv 2402.01622)",
            "separator": "\n",
            "start": "start",
            "accepting": ["home"],
            "states": states,
            "symbols": self.symbols,
            "limits": limits,
            "templates": { "task": task },
            "transitions": self.transitions,
        })
    }
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
