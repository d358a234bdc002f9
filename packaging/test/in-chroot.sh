#!/usr/bin/env bash
# The package in a chroot, in a network of its own. Called by debootstrap.sh with $root.
set -euo pipefail
. "$(dirname "$0")/expect.sh"
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8

mount -t proc proc "$root/proc"
chroot "$root" ip link set lo up

# What the unit would start, as the user as which it would.
# In /root, where people stand, which the user of the service may not enter.
chmod 700 "$root/root"
at_home() { chroot "$root" sh -c "cd /root && $*"; }
as_service=(chroot "$root" setpriv --reuid=gatepost --regid=gatepost --init-groups --no-new-privs
  --bounding-set=-all env --chdir=/var/lib/gatepost)
command=$(sed -n 's/^ExecStart=//p' "$(dirname "$0")/../gatepost.service")

# start PORT COMMAND...
start() {
  local port=$1
  shift
  "${as_service[@]}" "$@" >"$work/server.log" 2>&1 &
  server=$!
  eventually 60 "it serves on port $port" curl --silent "http://127.0.0.1:$port/"
}
stop() {
  kill "$server"
  wait "$server" || fail "the server ended with $?: $(cat "$work/server.log")"
}

api() { curl --silent --get --data "provider_code=$code" --data "auth_key=$key" "$@"; }
links() { api "http://127.0.0.1:$1/api/list-install"; }

fill() { # PROGRAM PORT
  local credentials
  credentials=$("${as_service[@]}" "$1" provider add --name test --plan pro --json --data /var/lib/gatepost)
  code=$(field provider_code <<<"$credentials")
  key=$(field auth_key <<<"$credentials")
  expect 'a link is added' "$(api "http://127.0.0.1:$2/api/add-install" --data install_code=PackageTest1 \
    --data install_limit=3 --data note=kept | field msg)" Ok
  before=$(links "$2")
}

say 'Install'
words=$(at_home dpkg --install /packages/this.deb </dev/null)
echo 'ok  dpkg installs it'
mapfile -t next_commands < <(sed -n 's/^  \(.* gatepost .*\)$/\1/p' <<<"$words")
expect 'commands that it names next' "${#next_commands[@]}" 3
expect 'its user' "$(chroot "$root" getent passwd gatepost | cut -d: -f5-)" \
  'Gatepost:/var/lib/gatepost:/usr/sbin/nologin'
expect 'the executable' "$(owned /usr/bin/gatepost)" '755 root:root'
expect 'the configuration' "$(owned /etc/gatepost/gatepost.toml)" '640 root:gatepost'
expect 'what new installations alone set' \
  "$(grep '^[a-z]' "$root/etc/gatepost/gatepost.toml" | tr '\n' ' ')" \
  'data = "/var/lib/gatepost" strangers = "quiet" '
expect 'its directory' "$(owned /etc/gatepost)" '750 root:gatepost'
expect 'the data directory' "$(owned /var/lib/gatepost)" '700 gatepost:gatepost'
holds 'the service is enabled' \
  test -L "$root/etc/systemd/system/multi-user.target.wants/gatepost.service"
chroot "$root" gatepost version
expect 'its folder' "$(owned /etc/gatepost/gatepost.d)" '750 root:gatepost'
expect 'where commands look for data' "$(at_home gatepost config |
  sed -n 's/^data  *//p' | tr -s ' ')" \
  "/var/lib/gatepost /etc/gatepost/gatepost.toml:$(chroot "$root" sed -n '/^data/=' /etc/gatepost/gatepost.toml)"
# shellcheck disable=SC2086 # The unit's command is words.
start 8080 $command
for line in "${next_commands[@]}"; do holds "$line" at_home "$line"; done
holds 'root needs no other user' at_home gatepost link list
expect 'files of root in the data directory' \
  "$(find "$root/var/lib/gatepost" ! -user "$(chroot "$root" id -u gatepost)" | wc -l)" 0
holds 'a backup in the home of root' at_home gatepost backup first.backup
expect 'its owner' "$(owned root/first.backup)" '600 root:root'
fill gatepost 8080
stop
expect 'the database' "$(owned /var/lib/gatepost/gatepost.db)" '600 gatepost:gatepost'

say 'Upgrade'
printf '[server]\nport = 8090\n' | at_home 'tee /etc/gatepost/gatepost.d/10-port.toml' >/dev/null
expect 'where the port comes from' "$(at_home gatepost config | sed -n 's/^server.port  *//p' | tr -s ' ')" \
  '8090 /etc/gatepost/gatepost.d/10-port.toml:2'
sed -i 's/^strangers = "quiet"$/&\n# An edit./' "$root/etc/gatepost/gatepost.toml"
holds 'dpkg upgrades it and asks nothing' at_home dpkg --install /packages/next.deb </dev/null
expect 'its version' "$(chroot "$root" dpkg-query -Wf '${Version} ${Status}' gatepost)" \
  "$next install ok installed"
expect 'the edit of the configuration' \
  "$(grep -c '^# An edit.$' "$root/etc/gatepost/gatepost.toml")" 1
expect 'the mode of the configuration' "$(owned /etc/gatepost/gatepost.toml)" '640 root:gatepost'
expect 'files of dpkg beside it' "$(find "$root/etc/gatepost" -name '*.dpkg-*' | wc -l)" 0
# shellcheck disable=SC2086
start 8090 $command
expect 'the links' "$(links 8090)" "$before"
stop

say 'Remove'
holds 'dpkg removes it' chroot "$root" dpkg --remove gatepost
fails 'the executable is gone' test -e "$root/usr/bin/gatepost"
holds 'the data stay' test -f "$root/var/lib/gatepost/gatepost.db"
holds 'the configuration stays' grep -q '^# An edit.$' "$root/etc/gatepost/gatepost.toml"
holds 'dpkg installs it again' at_home dpkg --install /packages/next.deb </dev/null
# shellcheck disable=SC2086
start 8090 $command
expect 'the links' "$(links 8090)" "$before"
stop

say 'Purge'
holds 'dpkg purges it' chroot "$root" dpkg --purge gatepost
fails 'the data are gone' test -e "$root/var/lib/gatepost"
fails 'the configuration is gone' test -e "$root/etc/gatepost"
expect 'links of the unit that are left' \
  "$(find "$root/etc/systemd" "$root/var/lib/systemd" -name '*gatepost*' | wc -l)" 0
holds 'the user stays' chroot "$root" getent passwd gatepost

for old in "$root"/packages/old_*.deb; do
  [ -e "$old" ] || continue
  say "Upgrade from ${old##*_}, whose configuration is a conffile that was edited"
  holds 'dpkg installs it' at_home dpkg --install "/packages/${old##*/}" </dev/null
  expect 'the configuration' "$(owned /etc/gatepost/gatepost.toml)" '640 root:gatepost'
  sed -i 's/^#port = 8080$/port = 8090/' "$root/etc/gatepost/gatepost.toml"
  edited=$(sha256sum <"$root/etc/gatepost/gatepost.toml")
  holds 'dpkg upgrades it and asks nothing' at_home dpkg --install /packages/this.deb </dev/null
  expect 'the edited file' "$(sha256sum <"$root/etc/gatepost/gatepost.toml")" "$edited"
  expect 'its mode' "$(owned /etc/gatepost/gatepost.toml)" '640 root:gatepost'
  expect 'what is beside it' "$(ls "$root/etc/gatepost")" $'gatepost.d\ngatepost.toml'
  # shellcheck disable=SC2086
  start 8090 $command
  stop
  holds 'dpkg upgrades it once more' at_home dpkg --install /packages/next.deb </dev/null
  expect 'the edited file' "$(sha256sum <"$root/etc/gatepost/gatepost.toml")" "$edited"
  holds 'dpkg purges it' at_home dpkg --purge gatepost
  fails 'the configuration is gone' test -e "$root/etc/gatepost"
done

if [ -f "$root/packages/gatepost-last" ]; then
  say 'Data of the last release'
  holds 'dpkg installs it' chroot "$root" dpkg --install /packages/this.deb
  chroot "$root" /packages/gatepost-last version
  # It would not know settings of this version.
  as_service+=(GATEPOST_CONFIG=none)
  start 8080 /packages/gatepost-last serve --data /var/lib/gatepost
  fill /packages/gatepost-last 8080
  stop
  # shellcheck disable=SC2086
  start 8080 $command
  expect 'the links' "$(links 8080)" "$before"
  stop
  echo "The last release on these data: $("${as_service[@]}" /packages/gatepost-last provider list \
    --data /var/lib/gatepost 2>&1 | tail -n 1)"
fi
