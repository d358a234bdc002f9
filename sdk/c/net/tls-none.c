/* No TLS: an https:// address is refused. */
#include "tls.h"

#include <errno.h>
#include <stddef.h>

int tls_is_here(void) {
  return 0;
}

tls_line *tls_begin(int fd, const char *host) {
  (void)fd;
  (void)host;
  return NULL;
}

ssize_t tls_send(tls_line *line, const char *bytes, size_t size, short *waits) {
  (void)line;
  (void)bytes;
  (void)size;
  (void)waits;
  errno = EPROTO;
  return -1;
}

ssize_t tls_receive(tls_line *line, char *bytes, size_t size) {
  (void)line;
  (void)bytes;
  (void)size;
  errno = EPROTO;
  return -1;
}

int tls_is_open(const tls_line *line) {
  (void)line;
  return 0;
}

void tls_end(tls_line *line) {
  (void)line;
}
