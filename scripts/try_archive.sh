#!/usr/bin/env bash
# Unpacks an archive of scripts/archive.sh into an empty folder and runs an experiment there. As root on Linux that
# folder is the whole file system: the program finds no library, no font and no file of this machine.
set -euo pipefail
archive=$(realpath "${1:?which archive?}")
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
tar -xzf "$archive" -C "$root" --strip-components=1
for file in man/dpbi.1 completions/dpbi.{bash,zsh,fish,powershell,elvish} LICENSE-MIT THIRD-PARTY-NOTICES.md; do
    test -s "$root/$file"
done
cd "$root"
case $archive in
*linux-musl*)
    if ldd dpbi 2>&1 | grep '=>'; then
        echo "error: the program needs libraries" >&2
        exit 1
    fi
    ;;
esac
run=(./dpbi run beta_balanced --runs 20 -q)
case $(uname -s),$(id -u),$archive in
Linux,0,*linux-musl*) chroot "$root" /dpbi "${run[@]:1}" ;;
*) "${run[@]}" ;;
esac
ls results/beta_balanced/box.svg results/beta_balanced/box.png results/beta_balanced/summary.csv
echo "the archive works"
