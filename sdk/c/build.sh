#!/bin/sh
# Builds the kit, its driver and its sample into dist/kits/c (or the folder that is named), and with
# sanitizers the driver again and the tests. Needs a C compiler alone; sample-tls is made where OpenSSL
# is there to build with.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/../../dist/kits/c}
cc=${CC:-gcc}
strict="-I. -Inet -std=c99 -Wall -Wextra -Wpedantic -Werror"
checked="-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all"
mkdir -p "$out"
cd "$here"
$cc $strict -Os -c gatepost.c -o "$out/gatepost.o"
clear="net/net.c net/tls-none.c"
$cc $strict -Os driver/driver.c $clear "$out/gatepost.o" -o "$out/driver"
$cc $strict -Os sample.c $clear "$out/gatepost.o" -o "$out/sample"
if pkg-config --exists openssl 2>/dev/null; then
  $cc $strict -Os $(pkg-config --cflags openssl) sample.c net/net.c net/tls-openssl.c \
    "$out/gatepost.o" $(pkg-config --libs openssl) -o "$out/sample-tls"
fi
$cc $strict $checked -c gatepost.c -o "$out/checked.o"
$cc $strict $checked driver/driver.c $clear "$out/checked.o" -o "$out/driver-checked"
for test in answers odd-bytes orders; do
  $cc $strict $checked "test/$test.c" "$out/checked.o" -o "$out/$test"
done
