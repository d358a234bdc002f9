/*
 * Loaded before a program (LD_PRELOAD): from then on its machine's clock is apart by so many
 * milliseconds as TEST_CLOCK_FILE says, which may change at any time. The steady clock is true,
 * unless TEST_CLOCK_STEADY is set too.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

static const volatile int64_t *apart_ms;
static int is_steady_apart;

__attribute__((constructor)) static void begin(void) {
  const char *name = getenv("TEST_CLOCK_FILE");
  int fd = name == NULL ? -1 : open(name, O_RDONLY | O_CLOEXEC);
  void *found = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *apart_ms, PROT_READ, MAP_SHARED, fd, 0);
  if (found == MAP_FAILED) abort();
  is_steady_apart = getenv("TEST_CLOCK_STEADY") != NULL;
  apart_ms = found;
}

static int is_apart(clockid_t which) {
  if (apart_ms == NULL) return 0;
  if (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE) return 1;
  return is_steady_apart && which == CLOCK_MONOTONIC;
}

int clock_gettime(clockid_t which, struct timespec *now) {
  static int (*true_gettime)(clockid_t, struct timespec *);
  int result;
  if (true_gettime == NULL) {
    *(void **)&true_gettime = dlsym(RTLD_NEXT, "clock_gettime");
  }
  result = true_gettime(which, now);
  if (result == 0 && is_apart(which)) {
    int64_t ns = now->tv_nsec + *apart_ms % 1000 * 1000000;
    now->tv_sec += *apart_ms / 1000 + (ns < 0 ? -1 : ns / 1000000000);
    now->tv_nsec = ns < 0 ? ns + 1000000000 : ns % 1000000000;
  }
  return result;
}

int gettimeofday(struct timeval *now, void *zone) {
  struct timespec exact;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &exact) != 0) return -1;
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *now) {
  struct timespec exact;
  clock_gettime(CLOCK_REALTIME, &exact);
  if (now != NULL) *now = exact.tv_sec;
  return exact.tv_sec;
}

/* A wait until a time of the clock that is apart, which the kernel would take for past. */
int pthread_cond_timedwait(pthread_cond_t *what, pthread_mutex_t *with,
                           const struct timespec *until) {
  static int (*true_wait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
  struct timespec truly = *until;
  if (true_wait == NULL) {
    *(void **)&true_wait = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
  }
  /* Steady times count from the start of the machine. */
  if (apart_ms != NULL && truly.tv_sec > 1000000000) truly.tv_sec -= *apart_ms / 1000;
  return true_wait(what, with, &truly);
}
