#!/bin/bash
# Installs Marzban from a folder with its source and runs it until Ctrl-C.
#
#   test/panels/panels/marzban.sh SOURCE BUILD DATA PORT
#
# SOURCE   a checkout of 0.8.4
# BUILD    where a copy of it and its packages go; made if need be, and used again
# DATA     where its database goes, unless PANEL_DATABASE names one (a URL of SQLAlchemy)
# PORT     of the panel
#
# Needs Python 3.11. Prints the address with its administrator.
set -euo pipefail
[ $# = 4 ] || { sed -n '4p' "$0" >&2; exit 2; }
mkdir -p "$2" "$3"
source=$(cd "$1" && pwd) build=$(cd "$2" && pwd) data=$(cd "$3" && pwd) port=$4

if [ ! -e "$build/packages/bin/alembic" ]; then
  rm -rf "$build/panel" "$build/packages"
  cp -r "$source" "$build/panel"
  # Of its page only two files are read at the start; of Xray the version and a key.
  page=$build/panel/app/dashboard/build
  mkdir -p "$page/statics"
  : >"$page/index.html"
  : >"$page/404.html"
  cat >"$build/xray" <<'XRAY'
#!/bin/sh
case $1 in
version) echo 'Xray 25.1.1' ;;
x25519) printf 'Private key: made-up\nPublic key: made-up\n' ;;
*) echo 'Xray 25.1.1 started' && exec sleep infinity ;;
esac
XRAY
  chmod +x "$build/xray"
  python3 -m venv "$build/packages"
  "$build/packages/bin/pip" install --quiet --requirement "$build/panel/requirements.txt"
fi

export PATH="$build/packages/bin:$PATH" XRAY_EXECUTABLE_PATH="$build/xray"
export UVICORN_HOST=127.0.0.1 UVICORN_PORT="$port"
export SUDO_USERNAME=admin SUDO_PASSWORD=made-up-password-1
export SQLALCHEMY_DATABASE_URL="${PANEL_DATABASE:-sqlite:///$data/db.sqlite3}"
cd "$build/panel"
alembic upgrade head >"$data/log" 2>&1
echo "http://admin:made-up-password-1@127.0.0.1:$port"
exec python main.py >>"$data/log" 2>&1
