#!/bin/bash
# Installs PasarGuard from a folder with its source and runs it until Ctrl-C. As root.
#
#   test/panels/panels/pasarguard.sh SOURCE BUILD DATA PORT
#
# SOURCE   a checkout of 5.2
# BUILD    where a Debian root with the panel goes; made if need be, and used again
# DATA     where its database goes, unless PANEL_DATABASE names one (a URL of SQLAlchemy)
# PORT     of the panel
#
# Needs debootstrap: the panel wants Python 3.14, which Debian sid has. Prints the address with
# its administrator.
set -euo pipefail
[ $# = 4 ] || { sed -n '4p' "$0" >&2; exit 2; }
mkdir -p "$2" "$3"
source=$(cd "$1" && pwd) build=$(cd "$2" && pwd) data=$(cd "$3" && pwd) port=$4
root=$build/root

if [ ! -e "$build/installed" ]; then
  mirror=$(sed -n 's/^URIs: //p' /etc/apt/sources.list.d/debian.sources | head -n 1)
  rm -rf --one-file-system "$root"
  debootstrap --variant=minbase --include=python3,python3-venv,python3-pip,ca-certificates \
    sid "$root" "$mirror" >"$build/log"
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
  cp -r "$source" "$root/srv/panel"
  page=$root/srv/panel/dashboard/build
  mkdir -p "$page/statics"
  : >"$page/index.html"
  : >"$page/404.html"
  # With DEBUG, without which the administrator of the environment is none, it starts a page.
  printf '#!/bin/sh\nexec sleep infinity\n' >"$root/usr/local/bin/bun"
  chmod +x "$root/usr/local/bin/bun"
  # The versions of its lock; asyncmy, for MySQL, cannot be built for this Python.
  chroot "$root" python3 - >"$root/srv/wanted" <<'PYTHON'
import tomllib

packages = tomllib.load(open('/srv/panel/uv.lock', 'rb'))['package']
locked = {each['name']: each['version'] for each in packages if 'version' in each}
for each in packages:
    if each['name'] == 'pasarguard':
        for wanted in each['dependencies']:
            if wanted['name'] != 'asyncmy':
                print(f"{wanted['name']}=={locked[wanted['name']]}")
PYTHON
  chroot "$root" sh -c 'python3 -m venv /srv/packages &&
    /srv/packages/bin/pip install --quiet --requirement /srv/wanted'
  touch "$build/installed"
fi

mkdir -p "$root/srv/data"
export UVICORN_HOST=127.0.0.1 UVICORN_PORT="$port"
export SUDO_USERNAME=admin SUDO_PASSWORD=made-up-password-1 DEBUG=True
export SQLALCHEMY_DATABASE_URL="${PANEL_DATABASE:-sqlite+aiosqlite:////srv/data/db.sqlite3}"
echo "http://admin:made-up-password-1@127.0.0.1:$port"
# Each run sees its own data there; the panel reads figures of the machine. By itself it would
# listen on all addresses with DEBUG.
exec unshare --mount sh -c 'mount --bind "$1" "$2/srv/data" && mount -t proc proc "$2/proc" &&
  exec chroot "$2" sh -c "
  cd /srv/panel && PATH=/srv/packages/bin:\$PATH && export PATH &&
  python -m alembic upgrade head && exec python -m uvicorn --factory main:create_app \\
    --host 127.0.0.1 --port $UVICORN_PORT"' sh "$data" "$root" >"$data/log" 2>&1
