#!/usr/bin/env bash
# Makes $1 the root of a machine of its own and becomes its init. Runs in fresh namespaces.
set -euo pipefail
root=$1

mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
# What would change the host's kernel may only be read.
mount --bind -o ro "$root/proc/sys" "$root/proc/sys"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
# Devices of its own: systemd sets owner and mode of its console, and through a bind mount it would
# set those of the host's /dev/null.
device() { mknod --mode="$2" "$root/dev/$1" c "$3" "$4"; }
device null 666 1 3
device zero 666 1 5
device full 666 1 7
device random 666 1 8
device urandom 666 1 9
device tty 666 5 0
device console 600 1 3
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
mount -t tmpfs tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/tmp"

cd "$root"
pivot_root . mnt
umount -l /mnt
exec env -i container=gatepost-test PATH=/usr/sbin:/usr/bin:/sbin:/bin \
  /lib/systemd/systemd --system --show-status=no --log-target=journal --unit=multi-user.target
