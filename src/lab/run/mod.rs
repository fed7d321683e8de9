//! Carrying out an experiment: cell by cell, whole or in shards, kept in a results folder.

pub mod sample;
pub mod size;
pub mod store;
pub mod sweep;
