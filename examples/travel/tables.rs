//! Tables of candidates, as files of comma-separated values with the benchmark's column names.

use super::errors;
use grammata::Place;
use grammata::{Error, Result};
use grammata::{LimitKind, Limits};
use std::collections::HashMap;
use std::path::Path;

/// A flight between two cities on one date.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // the fields are the columns of the benchmark's table
pub struct Flight {
    pub number: String,
    pub price: u64,
    pub departure: String,
    pub arrival: String,
    pub date: String,
    pub origin: String,
    pub destination: String,
}

/// The distance between two cities over land.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // the fields are the columns of the benchmark's table
pub struct Distance {
    pub origin: String,
    pub destination: String,
    /// Kilometres.
    pub distance: u64,
}

/// A restaurant, with its cost and cuisines.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // the fields are the columns of the benchmark's table
pub struct Restaurant {
    pub name: String,
    pub city: String,
    /// The cost of a meal for one person.
    pub cost: u64,
    pub cuisines: Vec<String>,
}

/// An attraction, and the city that it is in.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // the fields are the columns of the benchmark's table
pub struct Attraction {
    pub name: String,
    pub city: String,
}

/// An accommodation, with its price and its rules.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // the fields are the columns of the benchmark's table
pub struct Accommodation {
    pub name: String,
    pub city: String,
    /// The price of a night in one unit, for up to `occupancy` people.
    pub price: u64,
    pub room_type: String,
    pub house_rules: String,
    pub minimum_nights: u64,
    pub occupancy: u64,
}

/// All tables of candidates.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)] // each table is one field
pub struct TravelTables {
    pub flights: Vec<Flight>,
    pub distances: Vec<Distance>,
    pub restaurants: Vec<Restaurant>,
    pub attractions: Vec<Attraction>,
    pub accommodations: Vec<Accommodation>,
    /// Each city, and the state that it is in.
    pub cities: Vec<(String, String)>,
}

impl TravelTables {
    /// Reads `flights.csv`, `distances.csv`, `restaurants.csv`, `attractions.csv`, `accommodations.csv` and
    /// `cities.csv` of a folder. The columns are the benchmark's, in any order; other columns are ignored.
    ///
    /// # Errors
    /// A file cannot be read, lacks a column, or has an invalid cell.
    pub fn read(folder: &Path, limits: &Limits) -> Result<TravelTables> {
        let table = |name: &'static str| Table::read(folder, name, limits);
        let mut tables = TravelTables::default();
        let flights = table("flights.csv")?;
        for row in flights.rows() {
            tables.flights.push(Flight {
                number: row.text("Flight Number")?,
                price: row.number("Price")?,
                departure: row.text("DepTime")?,
                arrival: row.text("ArrTime")?,
                date: row.text("FlightDate")?,
                origin: row.text("OriginCityName")?,
                destination: row.text("DestCityName")?,
            });
        }
        for row in table("distances.csv")?.rows() {
            tables.distances.push(Distance {
                origin: row.text("origin")?,
                destination: row.text("destination")?,
                distance: row.number("distance")?,
            });
        }
        for row in table("restaurants.csv")?.rows() {
            let cuisines = row.text("Cuisines")?;
            tables.restaurants.push(Restaurant {
                name: row.text("Name")?,
                city: row.text("City")?,
                cost: row.number("Average Cost")?,
                cuisines: cuisines.split(',').map(|cuisine| cuisine.trim().to_owned()).collect(),
            });
        }
        for row in table("attractions.csv")?.rows() {
            tables.attractions.push(Attraction { name: row.text("Name")?, city: row.text("City")? });
        }
        for row in table("accommodations.csv")?.rows() {
            tables.accommodations.push(Accommodation {
                name: row.text("NAME")?,
                city: row.text("city")?,
                price: row.number("price")?,
                room_type: row.text("room type")?,
                house_rules: row.text("house_rules")?,
                minimum_nights: row.number("minimum nights")?,
                occupancy: row.number("maximum occupancy")?,
            });
        }
        for row in table("cities.csv")?.rows() {
            tables.cities.push((row.text("City")?, row.text("State")?));
        }
        Ok(tables)
    }
}

/// The rows of one file, and the index of each column by its name.
struct Table {
    name: &'static str,
    columns: HashMap<String, usize>,
    rows: Vec<Vec<Cell>>,
}

/// A cell with the place where it begins.
#[derive(Debug)]
struct Cell {
    text: String,
    place: Place,
}

struct Row<'t> {
    table: &'t Table,
    number: usize,
}

impl Table {
    fn read(folder: &Path, name: &'static str, limits: &Limits) -> Result<Table> {
        let path = folder.join(name);
        let size = std::fs::metadata(&path).map_err(|cause| Error::io(&path, &cause))?.len();
        if size > limits.source_bytes as u64 {
            return Err(Limits::exceeded(
                LimitKind::SourceBytes,
                limits.source_bytes,
                format!("{size} bytes"),
            ));
        }
        let text = std::fs::read_to_string(&path).map_err(|cause| Error::io(&path, &cause))?;
        let mut rows = cells(text.strip_prefix('\u{FEFF}').unwrap_or(&text)).into_iter();
        let header = rows.next().unwrap_or_default();
        let columns = header
            .into_iter()
            .enumerate()
            .map(|(place, cell)| (cell.text.trim().to_owned(), place))
            .collect();
        Ok(Table { name, columns, rows: rows.collect() })
    }

    fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        (0..self.rows.len()).map(|number| Row { table: self, number })
    }
}

impl Row<'_> {
    fn cell(&self, column: &str) -> Result<Option<&Cell>> {
        let place =
            self.table.columns.get(column).ok_or_else(|| errors::no_column(self.table.name, column))?;
        Ok(self.table.rows[self.number].get(*place))
    }

    fn text(&self, column: &str) -> Result<String> {
        Ok(self.cell(column)?.map(|cell| cell.text.trim().to_owned()).unwrap_or_default())
    }

    /// Reads a number and rounds it up. Commas between thousands are allowed, and a unit may follow.
    fn number(&self, column: &str) -> Result<u64> {
        let text = self.text(column)?;
        let digits: String =
            text.chars().filter(|&c| c != ',').take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        match digits.parse::<f64>() {
            Ok(number) if number < 1e12 => Ok(number.ceil() as u64),
            _ => {
                // a row that ends before the column has no such cell: the place is that of its first cell
                let row = &self.table.rows[self.number];
                let place = self.cell(column)?.or(row.first()).map(|cell| cell.place.clone());
                Err(errors::bad_cell(self.table.name, column, place.unwrap_or(Place::Whole), &text))
            }
        }
    }
}

/// Splits text into rows of comma-separated cells. A cell in quotes may have commas, line ends and doubled quotes in it
/// (RFC 4180). Rows without any text are left out.
fn cells(text: &str) -> Vec<Vec<Cell>> {
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let mut quoted = false;
    // the position of the next character; `place` is where the current cell begins
    let (mut line, mut column) = (1, 1);
    let mut place = Place::LineColumn { line, column };
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        (line, column) = if c == '\n' { (line + 1, 1) } else { (line, column + 1) };
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                cell.push('"');
                chars.next();
                column += 1;
            }
            '"' => quoted = !quoted,
            ',' | '\n' if !quoted => {
                row.push(Cell { text: std::mem::take(&mut cell), place });
                place = Place::LineColumn { line, column };
                if c == '\n' {
                    rows.push(std::mem::take(&mut row));
                }
            }
            '\r' if !quoted => {}
            c => cell.push(c),
        }
    }
    if !cell.is_empty() || !row.is_empty() {
        row.push(Cell { text: cell, place });
        rows.push(row);
    }
    rows.retain(|row| row.iter().any(|cell| !cell.text.is_empty()));
    rows
}
