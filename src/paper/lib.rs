//! What the source documents say: their formulas, their claims (judged), the numbers they print.

pub mod claims;
pub mod formula;
pub mod printed_numbers;
