//! The posterior against brute force, written from the definition.

mod brute;
mod comparisons;
mod draws;
mod joints;
mod published;
mod shares;
mod wide;
