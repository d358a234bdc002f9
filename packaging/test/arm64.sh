#!/usr/bin/env bash
# The arm64 package and image on another machine, by emulation: qemu-user-static and
# libc6-arm64-cross of Debian. Without them it says that nothing was run. Called by debootstrap.sh
# with $work.
set -euo pipefail
. "$(dirname "$0")/expect.sh"

libraries=/usr/aarch64-linux-gnu
if ! command -v qemu-aarch64-static >/dev/null || [ ! -d $libraries ]; then
  echo 'Not run: install qemu-user-static and libc6-arm64-cross for it.'
  exit
fi
mkdir "$work/arm64"
OUT=$work/arm64 DEB_COMPRESSION=none packaging/build-deb.sh arm64 dist/gatepost-linux-arm64 >/dev/null
package=("$work"/arm64/*.deb)
expect 'its architecture' "$(dpkg-deb --field "${package[0]}" Architecture)" arm64
dpkg-deb --extract "${package[0]}" "$work/arm64/root"
gatepost=(qemu-aarch64-static -L $libraries "$work/arm64/root/usr/bin/gatepost")
expect 'its platform' "$("${gatepost[@]}" version --json | field platform)" linux-arm64

data=(--config none --data "$work/arm64/data")
GATEPOST_MONITOR_PORT=0 "${gatepost[@]}" serve --port 0 "${data[@]}" >"$work/arm64.log" 2>&1 &
server=$!
eventually 120 'it listens' grep -q 'listening on' "$work/arm64.log"
holds 'a command works beside it' "${gatepost[@]}" provider add --name test "${data[@]}"
url=$(sed -n 's/.*listening on //p' "$work/arm64.log")
expect 'it answers' "$(curl --silent "$url/api/list-install" | field msg)" 'Auth error'
kill "$server"
wait "$server" || fail "the server ended with $?: $(cat "$work/arm64.log")"
echo 'ok  SIGTERM ends it'

# The image holds every library that the executable needs there.
SOURCE_DATE_EPOCH=0 "$(.ci/bun)" packaging/image.ts arm64 dist/gatepost-linux-arm64 "$work/arm64.tar" >/dev/null
mkdir "$work/arm64/layout" "$work/arm64/image"
tar --extract --file "$work/arm64.tar" --directory "$work/arm64/layout"
layer=$(jq -r '.[0].Layers[0]' "$work/arm64/layout/manifest.json")
tar --extract --gzip --file "$work/arm64/layout/$layer" --directory "$work/arm64/image"
expect 'the image' "$(qemu-aarch64-static -L "$work/arm64/image" "$work/arm64/image/usr/bin/gatepost" version --json |
  field platform)" linux-arm64
