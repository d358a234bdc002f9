#!/usr/bin/env bash
# Writes the bill of materials and SHA256SUMS of all that is published, beside it in dist/: the given
# executables, the packages and the bill.
set -euo pipefail
cd "$(dirname "$0")/.."

bun=$(.ci/bun)
version=$("$bun" --print 'require("./package.json").version')
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y package.json)}
date=$(date --utc --date="@$epoch" +%Y-%m-%d)

"$bun" packaging/sbom.ts "$version" "${date}T00:00:00Z" >"dist/gatepost_$version.cdx.json"
cd dist
sha256sum "$@" gatepost_"$version"_*.deb \
  "gatepost_$version.cdx.json" | tee SHA256SUMS
