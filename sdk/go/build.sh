#!/bin/sh
# Builds driver and sample into dist/kits/go (or the folder that is named). Needs Go of 1.24 or
# later, and its one library: `go mod download` brings it. GOFLAGS=-race watches for data races.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/../../dist/kits/go}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$here"
go vet ./...
go build -o "$out/driver" ./driver
go build -trimpath -ldflags='-s -w' -o "$out/sample" ./sample
