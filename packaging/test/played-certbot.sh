#!/bin/sh
# Plays certbot: certonly, with a certificate that signs itself. Files lie where the real one has
# them, readable by root alone, and the hook gets the same variables.
set -eu
domain=
hook=
[ "$1" = certonly ] || exit 2
shift
while [ $# -gt 0 ]; do
  case $1 in
    --standalone) ;;
    -d) domain=$2; shift ;;
    --deploy-hook) hook=$2; shift ;;
    *) echo "certbot: unrecognized arguments: $1" >&2; exit 2 ;;
  esac
  shift
done
live=/etc/letsencrypt/live/$domain
umask 077
mkdir -p "$live"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 90 -subj "/CN=$domain" \
  -addext "subjectAltName=DNS:$domain" -keyout "$live/privkey.pem" -out "$live/fullchain.pem" 2>/dev/null
[ -z "$hook" ] || RENEWED_LINEAGE=$live RENEWED_DOMAINS=$domain sh -c "$hook"
