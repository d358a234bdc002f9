#!/bin/sh
# Makes dist/: what `npm pack` and `make kits` put into the package. ROOT names the repository.
set -eu
cd "$(dirname "$0")"
root=${ROOT:-../..}
rm -rf dist
"$("$root/.ci/bun")" "$root/node_modules/typescript/bin/tsc" --project .
# The compiler leaves the names of sources in declarations, which are not in the package.
sed -i "s|\(from '\./[a-z]*\)\.ts'|\1.js'|" dist/*.d.ts
install -m 644 "$root/LICENSE" .
