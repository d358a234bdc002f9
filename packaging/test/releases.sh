#!/usr/bin/env bash
# What docs/installing.md says that the executables of a release need: the C library, and the
# processor as far as this machine can be another one (qemu-user-static of Debian). Those for musl
# are started if MUSL_ROOT is an unpacked root of a musl distribution with libstdc++. Called by
# debootstrap.sh after make release, or by hand.
set -euo pipefail
cd "$(dirname "$0")/../.."
. packaging/test/expect.sh
command -v readelf >/dev/null || fail 'readelf (binutils) is not installed'

# The highest version of glibc that a symbol is asked of.
glibc() { readelf --version-info "$1" | grep -o 'GLIBC_[0-9.]*' | sort --version-sort --unique | tail -n 1; }
loader() { readelf --program-headers "$1" | sed -n 's/.*interpreter: \(.*\)]/\1/p'; }
# What it says of its platform when COMMAND… runs it.
platform() { "$@" version --json 2>/dev/null | field platform; }

while read -r name interpreter system; do
  file=dist/gatepost-linux-$name
  [ -f "$file" ] || {
    echo "skipped: $file was not built"
    continue
  }
  expect "$name: its loader" "$(loader "$file")" "$interpreter"
  case $name in
    *musl*) expect "$name: nothing of glibc" "$(glibc "$file")" '' ;;
    *) expect "$name: its glibc" "$(glibc "$file")" GLIBC_2.17 ;;
  esac
  case $name in
    *musl*)
      if [ -x "${MUSL_ROOT:-/nowhere}$interpreter" ]; then
        run=("$MUSL_ROOT$interpreter" --library-path "$MUSL_ROOT/lib:$MUSL_ROOT/usr/lib" "$file")
        expect "$name: it runs" "$(platform "${run[@]}")" "$system"
      fi
      ;;
    x64*)
      [ "$(uname -m)" = x86_64 ] || continue
      expect "$name: it runs" "$(platform "$file")" "$system"
      command -v qemu-x86_64-static >/dev/null || continue
      # Nehalem is the oldest with SSE4.2, and has no AVX.
      run=(qemu-x86_64-static -cpu Nehalem "$file")
      expect "$name: it runs with SSE4.2 alone" "$(platform "${run[@]}")" "$system"
      ;;
  esac
done <<'END'
x64 /lib64/ld-linux-x86-64.so.2 linux-x64
x64-baseline /lib64/ld-linux-x86-64.so.2 linux-x64
arm64 /lib/ld-linux-aarch64.so.1 linux-arm64
x64-musl /lib/ld-musl-x86_64.so.1 linux-x64
x64-musl-baseline /lib/ld-musl-x86_64.so.1 linux-x64
arm64-musl /lib/ld-musl-aarch64.so.1 linux-arm64
END
