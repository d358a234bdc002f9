#!/bin/sh
# Builds the kit, its driver and its sample into dist/kits/c (or the folder that is named), and with
# sanitizers the driver again and the tests. Needs a C compiler alone.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/../../dist/kits/c}
cc=${CC:-gcc}
strict="-std=c99 -Wall -Wextra -Wpedantic -Werror"
checked="-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all"
mkdir -p "$out"
cd "$here"
$cc $strict -Os -c gatepost.c -o "$out/gatepost.o"
$cc $strict -Os driver/driver.c driver/net.c "$out/gatepost.o" -o "$out/driver"
$cc $strict -Os sample.c driver/net.c "$out/gatepost.o" -o "$out/sample"
$cc $strict $checked driver/driver.c driver/net.c gatepost.c -o "$out/driver-checked"
$cc $strict $checked test/odd-bytes.c gatepost.c -o "$out/odd-bytes"
$cc $strict $checked test/orders.c gatepost.c -o "$out/orders"
