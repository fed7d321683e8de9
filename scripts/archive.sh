#!/usr/bin/env bash
# Builds the program for a target, and packs it with what belongs to it:
#
#     scripts/archive.sh x86_64-unknown-linux-musl dist
#
# writes dist/dpbi-VERSION-TARGET.tar.gz. In it: the program, its licences, the manual page and completions for shells.
# The program that writes these must run here; for a target that does not, give the path of one that does in DPBI.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${1:?which target?} dist=${2:?which folder?}

version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
name=dpbi-$version-$target
suffix=
case $target in *windows*) suffix=.exe ;; esac

# What is distributed may take longer to build: it is smaller so.
CARGO_PROFILE_RELEASE_STRIP=symbols cargo build --locked --release --target "$target"
program=${CARGO_TARGET_DIR:-target}/$target/release/dpbi$suffix
writer=${DPBI:-$program}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
folder=$work/$name
mkdir -p "$folder/completions" "$folder/man" "$dist"
cp "$program" README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE THIRD-PARTY-NOTICES.md "$folder"
"$writer" generate man > "$folder/man/dpbi.1"
for shell in bash zsh fish powershell elvish; do
    "$writer" generate completions "$shell" > "$folder/completions/dpbi.$shell"
done
tar -czf "$dist/$name.tar.gz" -C "$work" "$name"
echo "wrote $dist/$name.tar.gz"
