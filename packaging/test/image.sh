#!/usr/bin/env bash
# The files of the container image, without a container engine: a chroot that holds nothing else, the
# image's user, and what engines give every container (/proc, /dev, a volume). Called by
# debootstrap.sh with $work and $executable.
set -euo pipefail
. "$(dirname "$0")/expect.sh"
root=$work/image

if [ "${1:-}" != inside ]; then
  "$(dirname "$0")/../image-root.sh" "$executable" "$root"
  echo "ok  $(cd "$root" && find . -type f | wc -l) files: $(cd "$root" && find . -type f -printf '%P ')"
  exec unshare --net --mount --pid --fork --kill-child --mount-proc "$0" inside
fi

mkdir "$root/proc" "$root/dev"
mount -t proc proc "$root/proc"
mount -t tmpfs tmpfs "$root/dev"
for node in null zero urandom; do
  touch "$root/dev/$node"
  mount --bind "/dev/$node" "$root/dev/$node"
done
ip link set lo up

# As engines start it: ENV, USER, ENTRYPOINT of the Dockerfile.
file=$(dirname "$0")/../Dockerfile
mapfile -t environment < <(sed -n '/^ENV /,/[^\\]$/p' "$file" | grep -o 'GATEPOST_[A-Z]*=[^ ]*')
user=$(sed -n 's/^USER //p' "$file")
image=(env -i "${environment[@]}" "$(command -v chroot)" --userspec="$user" "$root" /usr/bin/gatepost)

"${image[@]}" version
"${image[@]}" serve >"$work/image.log" 2>&1 &
server=$!
eventually 60 'it serves' curl --silent http://127.0.0.1:8080/
holds 'a command works beside it' "${image[@]}" provider add --name test
eventually 30 'it is ready by its own health check' "${image[@]}" ready
expect 'the database' "$(stat -c '%a %u:%g' "$root/var/lib/gatepost/gatepost.db")" "600 $user"
kill "$server"
wait "$server" || fail "the server ended with $?: $(cat "$work/image.log")"
echo 'ok  SIGTERM ends it'
