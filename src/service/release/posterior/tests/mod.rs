//! The posterior against brute force, written from the definition.

mod averages;
mod brute;
mod comparisons;
mod draws;
mod joints;
mod published;
mod shares;
