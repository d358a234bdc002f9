/*
 * A disk that takes 5 ms longer to sync (or as long as PAUSE_NS says, when this is built), for whatever program this is preloaded into: fsync and
 * fdatasync wait before they do what they always do.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

#ifndef PAUSE_NS
#define PAUSE_NS 5000000
#endif

static int slowly(const char *name, int fd) {
  const struct timespec pause = {.tv_sec = 0, .tv_nsec = PAUSE_NS};
  int (*sync)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  nanosleep(&pause, NULL);
  return sync(fd);
}

int fsync(int fd) { return slowly("fsync", fd); }

int fdatasync(int fd) { return slowly("fdatasync", fd); }
