#!/bin/sh
# Builds driver and sample into dist/kits/swift (or the folder that is named). Needs Swift of 5.9 or
# later, and no package.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/../../dist/kits/swift}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$here"
swift build --configuration release --scratch-path "$out/build"
cp "$out/build/release/driver" "$out/build/release/sample" "$out"
