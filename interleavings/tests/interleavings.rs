//! The models.

use interleavings::models;

#[test]
fn entries_are_seen_in_the_order_of_writing() {
    models::entries_are_seen_in_the_order_of_writing();
}

#[test]
fn a_segment_is_made_once() {
    models::a_segment_is_made_once();
}

#[test]
fn a_successor_is_there_before_it_is_named() {
    models::a_successor_is_there_before_it_is_named();
}

#[test]
fn a_single_successor_is_there_before_it_is_named() {
    models::a_single_successor_is_there_before_it_is_named();
}

#[test]
fn an_id_is_read_in_the_tables_of_its_generation() {
    models::an_id_is_read_in_the_tables_of_its_generation();
}
