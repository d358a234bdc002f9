#!/bin/sh
# Makes FOLDER the root of a container image: the executable and what it needs of this Debian, its C
# library, nothing else; no shell. Usage: image-root.sh EXECUTABLE FOLDER
set -eu
executable=$1
root=$2

mkdir -p "$root/usr/bin" "$root/etc" "$root/tmp" "$root/var/lib/gatepost"
cp "$executable" "$root/usr/bin/gatepost"
chmod 755 "$root/usr/bin/gatepost"
chmod 1777 "$root/tmp"

# Names that lead to files, as ldd finds them, kept as the loader will look for them. The last two are
# loaded when names of hosts are resolved.
libraries=$(ldd "$executable" | sed -n 's/^[^/]*\(\/[^ ]*\) (0x.*/\1/p')
folder=$(dirname "$(echo "$libraries" | grep '/libc\.so')")
for library in $libraries "$folder/libnss_dns.so.2" "$folder/libresolv.so.2"; do
  mkdir -p "$root$(dirname "$library")"
  cp -L "$library" "$root$library"
done
echo 'hosts: files dns' >"$root/etc/nsswitch.conf"

echo 'gatepost:x:65532:65532:Gatepost:/var/lib/gatepost:/sbin/nologin' >"$root/etc/passwd"
echo 'gatepost:x:65532:' >"$root/etc/group"
chown 65532:65532 "$root/var/lib/gatepost"
chmod 700 "$root/var/lib/gatepost"
