#!/bin/sh
# Installs PasarGuard from a folder with its source and runs it until Ctrl-C. As root.
#
#   test/panels/start-pasarguard.sh SOURCE FOLDER PORT
#
# SOURCE   a checkout of 5.2
# FOLDER   where a Debian root with the panel goes; made if need be, and used again
# PORT     of the panel
#
# Needs debootstrap: the panel wants Python 3.14, which Debian sid has. Prints the line that
# test/panels/real.test.ts needs.
set -eu
[ $# = 3 ] || { sed -n '4p' "$0" >&2; exit 2; }
mkdir -p "$2"
source=$(cd "$1" && pwd) folder=$(cd "$2" && pwd) port=$3
root=$folder/root

if [ ! -e "$folder/installed" ]; then
  mirror=$(sed -n 's/^URIs: //p' /etc/apt/sources.list.d/debian.sources | head -n 1)
  rm -rf --one-file-system "$root"
  debootstrap --variant=minbase --include=python3,python3-venv,python3-pip,ca-certificates \
    sid "$root" "$mirror" >"$folder/log"
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
  touch "$folder/installed"
fi

cat >"$root/srv/panel/.env" <<END
UVICORN_HOST = "127.0.0.1"
UVICORN_PORT = $port
SUDO_USERNAME = "admin"
SUDO_PASSWORD = "made-up-password-1"
DEBUG = True
END
echo "export TEST_PANEL_PASARGUARD=http://admin:made-up-password-1@127.0.0.1:$port"
exec chroot "$root" sh -c 'cd /srv/panel && PATH=/srv/packages/bin:$PATH && export PATH &&
  python -m alembic upgrade head && exec python main.py' >"$folder/log" 2>&1
