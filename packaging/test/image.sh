#!/usr/bin/env bash
# The container image, without a container engine: its layer in a chroot that holds nothing else, its
# user and command, and what engines give every container (/proc, /dev, a volume). With podman, the
# archive is loaded too. Needs root, curl, jq. Usage: image.sh ARCHIVE; debootstrap.sh calls it.
set -euo pipefail
. "$(dirname "$0")/expect.sh"
archive=$1

if [ "${2:-}" != inside ]; then
  image=$(mktemp -d)
  trap 'rm -rf --one-file-system "$image"' EXIT
  export image
  mkdir "$image/layout" "$image/root"
  tar --extract --file "$archive" --directory "$image/layout"
  blob() { echo "$image/layout/blobs/${1/://}"; }
  manifest=$(blob "$(jq -r '.manifests[0].digest' "$image/layout/index.json")")
  config=$(blob "$(jq -r .config.digest "$manifest")")
  jq .config "$config" >"$image/config.json"
  tar --extract --gzip --same-owner --same-permissions --directory "$image/root" \
    --file "$(blob "$(jq -r '.layers[0].digest' "$manifest")")"
  echo "ok  $(cd "$image/root" && find . -type f | wc -l) files: $(cd "$image/root" && find . -type f -printf '%P ')"
  unshare --net --mount --pid --fork --kill-child --mount-proc "$0" "$archive" inside

  if command -v podman >/dev/null; then
    podman=(podman --root "$image/store" --runroot "$image/run" --storage-driver vfs)
    name=$("${podman[@]}" load --quiet --input "$archive" | sed -n 's/^Loaded image: //p')
    expect 'podman loads it, for its user' \
      "$("${podman[@]}" image inspect --format '{{.User}} {{.Config.StopSignal}}' "$name")" '65532:65532 SIGTERM'
    if said=$("${podman[@]}" run --rm --network none "$name" version 2>&1); then
      echo "ok  podman runs it: $said"
    else
      echo "skipped: podman cannot run containers on this machine ($(tail -n 1 <<<"$said"))"
    fi
  else
    echo 'skipped: there is no podman'
  fi
  exit
fi

root=$image/root
mkdir "$root/proc" "$root/dev"
mount -t proc proc "$root/proc"
mount -t tmpfs tmpfs "$root/dev"
for node in null zero urandom; do
  touch "$root/dev/$node"
  mount --bind "/dev/$node" "$root/dev/$node"
done
ip link set lo up

# As engines start it: Env, User, Entrypoint and Cmd of its configuration.
facts() { jq -r "$1" "$image/config.json"; }
mapfile -t environment < <(facts '.Env[]')
mapfile -t program < <(facts '.Entrypoint[]')
mapfile -t command < <(facts '.Cmd[]')
mapfile -t health < <(facts '.Healthcheck.Test[1:][]')
user=$(facts .User)
run=(env -i "${environment[@]}" "$(command -v chroot)" --userspec="$user" "$root")

"${run[@]}" "${program[@]}" version
"${run[@]}" "${program[@]}" "${command[@]}" >"$image/log" 2>&1 &
server=$!
eventually 60 'it serves' curl --silent http://127.0.0.1:8080/
holds 'a command works beside it' "${run[@]}" gatepost provider add --name test
eventually 30 'it is ready by its own health check' "${run[@]}" "${health[@]}"
expect 'the database' "$(stat -c '%a %u:%g' "$root/var/lib/gatepost/gatepost.db")" "600 $user"
kill "$server"
wait "$server" || fail "the server ended with $?: $(cat "$image/log")"
echo 'ok  SIGTERM ends it'
