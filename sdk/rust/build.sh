#!/bin/sh
# Builds driver and sample into dist/kits/rust (or the folder that is named). Needs Rust of 1.85 or
# later and the crates that `cargo fetch` brings. What was compiled stays in CARGO_TARGET_DIR.
set -eu
PATH=$PATH:$HOME/.cargo/bin
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/../../dist/kits/rust}
mkdir -p "$out"
out=$(cd "$out" && pwd)
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$here/../../.bootstrap/rust}
cd "$here"
cargo build --quiet --offline --locked --release --examples
cp "$CARGO_TARGET_DIR/release/examples/driver" "$CARGO_TARGET_DIR/release/examples/sample" "$out"
