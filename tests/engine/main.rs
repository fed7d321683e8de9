//! The engine against plain programs that list every output. They take long, so they are compiled as the engine
//! is, optimised.

extern crate dpbi_engine as engine;

mod exact;
mod optimality;
mod privacy;
mod sensitivity;
mod settings;
