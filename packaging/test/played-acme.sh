#!/bin/sh
# Plays acme.sh: --issue and --install-cert, with a certificate that signs itself. Files lie where
# the real one has them; like it, it refuses sudo.
set -eu
[ -z "${SUDO_COMMAND:-}" ] || { echo 'It seems that you are using sudo.' >&2; exit 1; }
task=
domain=
chain=
key=
reload=
while [ $# -gt 0 ]; do
  case $1 in
    --issue | --install-cert) task=$1 ;;
    --standalone) ;;
    --server) [ "$2" = letsencrypt ]; shift ;;
    -d) domain=$2; shift ;;
    --fullchain-file) chain=$2; shift ;;
    --key-file) key=$2; shift ;;
    --reloadcmd) reload=$2; shift ;;
    *) echo "Unknown parameter: $1" >&2; exit 1 ;;
  esac
  shift
done
own=$HOME/.acme.sh/${domain}_ecc
if [ "$task" = --issue ]; then
  mkdir -p "$own"
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 90 -subj "/CN=$domain" \
    -addext "subjectAltName=DNS:$domain" -keyout "$own/$domain.key" -out "$own/fullchain.cer" 2>/dev/null
  exit
fi
[ "$task" = --install-cert ]
cat "$own/fullchain.cer" >"$chain"
# An existing file keeps its owner and mode, a new one is its owner's alone.
[ -f "$key" ] || (umask 077; : >"$key")
cat "$own/$domain.key" >"$key"
[ -z "$reload" ] || sh -c "$reload"
