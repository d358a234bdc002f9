#!/usr/bin/env bash
# Builds dist/gatepost_VERSION_ARCHITECTURE.deb from an executable that is there already:
#
#   packaging/build-deb.sh amd64 dist/gatepost-linux-x64
#
# The same sources give the same bytes. VERSION=… makes one that claims another version (the test of
# upgrades does); OUT=… puts it elsewhere; DEB_COMPRESSION=none is for those in a hurry.
set -euo pipefail
cd "$(dirname "$0")/.."

architecture=$1
executable=$2
bun=$(.ci/bun)
version=${VERSION:-$("$bun" --print 'require("./package.json").version')}
out=${OUT:-dist}

# The moment of the commit: files in the package are not younger. From a tarball: of its oldest file.
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y package.json)}
export SOURCE_DATE_EPOCH=$epoch
date=$(date --utc --date="@$epoch" +%Y-%m-%d)

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
umask 022

put() { # MODE SOURCE TARGET
  install -D -m "$1" "$2" "$root$3"
}
made() { # TARGET, the content on stdin
  install -D -m 644 /dev/stdin "$root$1"
}

put 755 "$executable" /usr/bin/gatepost
put 644 packaging/gatepost.service /usr/lib/systemd/system/gatepost.service
for unit in service timer; do
  put 644 packaging/gatepost-doctor.$unit /usr/lib/systemd/system/gatepost-doctor.$unit
done
put 644 packaging/gatepost.sysusers /usr/lib/sysusers.d/gatepost.conf

# What the first installation copies to /etc/gatepost. Not a conffile: an upgrade would ask about it.
sed -e 's|^#data = .*|data = "/var/lib/gatepost"|' \
  -e "/^\[update\]/,\$ { s|^#url = \"\"\$|#url = \"${RELEASE_URL:-}\"|; s|^#key = \"\"\$|#key = \"${RELEASE_PUBLIC:-}\"|; }" \
  packaging/gatepost.toml |
  made /usr/share/gatepost/gatepost.toml
grep -q '^data = "/var/lib/gatepost"$' "$root/usr/share/gatepost/gatepost.toml"
grep -q '^strangers = "quiet"$' "$root/usr/share/gatepost/gatepost.toml"

"$bun" packaging/man.ts "$version" "$date" | gzip -9n | made /usr/share/man/man1/gatepost.1.gz

doc=/usr/share/doc/gatepost
"$bun" packaging/copyright.ts | made $doc/copyright
"$bun" packaging/sbom.ts "$version" "${date}T00:00:00Z" | gzip -9n | made $doc/sbom.cdx.json.gz
gzip -9nc CHANGELOG.md | made $doc/CHANGELOG.md.gz
made $doc/changelog.Debian.tmp <<END
gatepost ($version) stable; urgency=medium

  * Version $version: see CHANGELOG.md.gz.

 -- $(sed -n 's/^Maintainer: //p' packaging/debian/control.in)  $(date --utc --date="@$epoch" -R)
END
gzip -9nc "$root$doc/changelog.Debian.tmp" | made $doc/changelog.gz
rm "$root$doc/changelog.Debian.tmp"
put 644 packaging/port-80.conf $doc/port-80.conf
put 644 packaging/socket.conf $doc/socket.conf
for file in docs/gate/* packaging/alerts.yml packaging/grafana-dashboard.json; do
  put 644 "$file" "$doc/examples/${file##*/}"
done
for file in docs/proxy-protocol/*; do put 644 "$file" "$doc/examples/proxy-protocol/${file##*/}"; done
for file in docs/several-nodes/*; do put 644 "$file" "$doc/examples/several-nodes/${file##*/}"; done
for file in docs/images/*.svg; do put 644 "$file" "$doc/images/${file##*/}"; done
# The documents lie beside the examples here; links to files that the package lacks become text.
for file in docs/*.md docs/inside/*.md SECURITY.md; do
  # A page of the folder below finds those beside the folder by one step up, as in docs/.
  case $file in docs/inside/*) up='s#\]\(\.\./([a-z0-9-]+\.md)#](@\1#g' ;; *) up= ;; esac
  sed -E -e "$up" -e 's#\[([^]]*)\]\(\.\./packaging/gatepost\.toml\)#\1#g' -e 's#\]\((\.\./)?docs/#](#g' -e 's#\]\(\.\./(SECURITY\.md|packaging/port-80\.conf)#](\1#g' \
    -e 's#\]\(packaging/port-80#](port-80#g' -e 's#\]\(\.\./packaging/#](examples/#g' \
    -e 's#\]\(gate/#](examples/#g' -e 's#\]\(((several-nodes|proxy-protocol)/)#](examples/\1#g' \
    -e 's#\[([^]]*)\]\((\.\./|src/|test/|bench/|ARCHITECTURE|CHANGELOG)[^)]*\)#\1#g' -e 's#\]\(@#](../#g' "$file" |
    made "$doc/${file#docs/}"
done
put 644 packaging/debian/lintian-overrides /usr/share/lintian/overrides/gatepost

install -d -m 755 "$root/DEBIAN"
for script in postinst prerm postrm; do put 755 "packaging/debian/$script" "/DEBIAN/$script"; done
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) | made /DEBIAN/md5sums
sed -e "s/@VERSION@/$version/" -e "s/@ARCHITECTURE@/$architecture/" \
  -e "s/@INSTALLED_SIZE@/$(du -k --apparent-size -s "$root/usr" | cut -f1)/" \
  packaging/debian/control.in | made /DEBIAN/control

find "$root" -exec touch --no-dereference --date="@$epoch" {} +
mkdir -p "$out"
dpkg-deb --root-owner-group --uniform-compression -Z"${DEB_COMPRESSION:-xz}" --build "$root" \
  "$out/gatepost_${version}_$architecture.deb" >/dev/null
echo "$out/gatepost_${version}_$architecture.deb"
