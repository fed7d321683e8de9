//! A config or data file that is new is bundled: the compiler knows only of those that were there.

fn main() {
    println!("cargo:rerun-if-changed=../../configs");
    println!("cargo:rerun-if-changed=../../data");
}
