#!/bin/sh
# Installs Marzban from a folder with its source and runs it until Ctrl-C.
#
#   test/panels/start-marzban.sh SOURCE FOLDER PORT
#
# SOURCE   a checkout of 0.8.4
# FOLDER   where a copy of it, its packages and its database go; made if need be, and used again
# PORT     of the panel
#
# Needs Python 3.11. Prints the line that test/panels/real.test.ts needs.
set -eu
[ $# = 3 ] || { sed -n '4p' "$0" >&2; exit 2; }
mkdir -p "$2"
source=$(cd "$1" && pwd) folder=$(cd "$2" && pwd) port=$3

if [ ! -d "$folder/packages" ]; then
  cp -r "$source" "$folder/panel"
  # Of its page only two files are read at the start; of Xray the version and a key.
  page=$folder/panel/app/dashboard/build
  mkdir -p "$page/statics"
  : >"$page/index.html"
  : >"$page/404.html"
  cat >"$folder/xray" <<'XRAY'
#!/bin/sh
case $1 in
version) echo 'Xray 25.1.1' ;;
x25519) printf 'Private key: made-up\nPublic key: made-up\n' ;;
*) echo 'Xray 25.1.1 started' && exec sleep infinity ;;
esac
XRAY
  chmod +x "$folder/xray"
  python3 -m venv "$folder/packages"
  "$folder/packages/bin/pip" install --quiet --requirement "$folder/panel/requirements.txt"
fi

export PATH="$folder/packages/bin:$PATH" XRAY_EXECUTABLE_PATH="$folder/xray"
export UVICORN_HOST=127.0.0.1 UVICORN_PORT="$port"
export SUDO_USERNAME=admin SUDO_PASSWORD=made-up-password-1
cd "$folder/panel"
alembic upgrade head >"$folder/log" 2>&1
echo "export TEST_PANEL_MARZBAN=http://admin:made-up-password-1@127.0.0.1:$port"
exec python main.py >>"$folder/log" 2>&1
