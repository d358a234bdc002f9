/* TLS by OpenSSL 1.1.1 or later. */
#define _POSIX_C_SOURCE 200809L
#include "tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

/* It is an SSL throughout: OpenSSL keeps what there is to keep. */
static SSL *ssl_of(const tls_line *line) {
  return (SSL *)(void *)(uintptr_t)line;
}

int tls_is_here(void) {
  return 1;
}

/* Makes the settings of all connections once. */
static SSL_CTX *settings(void) {
  static SSL_CTX *made;
  if (made != NULL) return made;
  /* OpenSSL writes to a socket that was closed without asking for no signal. */
  signal(SIGPIPE, SIG_IGN);
  made = SSL_CTX_new(TLS_client_method());
  if (made == NULL) return NULL;
  SSL_CTX_set_min_proto_version(made, TLS1_2_VERSION);
  /* The authorities of the system, or those of the variables SSL_CERT_FILE and SSL_CERT_DIR. */
  SSL_CTX_set_default_verify_paths(made);
  SSL_CTX_set_verify(made, SSL_VERIFY_PEER, NULL);
  /* Bytes that wait may move between two attempts to send them. */
  SSL_CTX_set_mode(made, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  return made;
}

/* Demands a certificate of this host. Returns 0 if that cannot be. */
static int name_host(SSL *ssl, const char *host) {
  unsigned char address[16];
  int family = strchr(host, ':') == NULL ? AF_INET : AF_INET6;
  if (inet_pton(family, host, address) == 1) {
    return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host);
  }
  return SSL_set1_host(ssl, host) && SSL_set_tlsext_host_name(ssl, host);
}

tls_line *tls_begin(int fd, const char *host) {
  SSL *ssl = settings() == NULL ? NULL : SSL_new(settings());
  if (ssl == NULL) return NULL;
  SSL_set_connect_state(ssl);
  if (!SSL_set_fd(ssl, fd) || !name_host(ssl, host)) {
    SSL_free(ssl);
    return NULL;
  }
  return (tls_line *)(void *)ssl;
}

/* Says what a call did as errno does; returns its result as send(2) and recv(2) do. */
static ssize_t result_of(SSL *ssl, int did, short *waits) {
  int was = errno;
  if (waits != NULL) *waits = 0;
  if (did > 0) return did;
  switch (SSL_get_error(ssl, did)) {
    case SSL_ERROR_WANT_READ:
      if (waits != NULL) *waits = POLLIN;
      errno = EAGAIN;
      return -1;
    case SSL_ERROR_WANT_WRITE:
      if (waits != NULL) *waits = POLLOUT;
      errno = EAGAIN;
      return -1;
    case SSL_ERROR_ZERO_RETURN:
      return 0;
    case SSL_ERROR_SYSCALL:
      errno = was == 0 || was == EAGAIN ? ECONNRESET : was;
      return -1;
    default:
      errno = EPROTO;
      return -1;
  }
}

ssize_t tls_send(tls_line *line, const char *bytes, size_t size, short *waits) {
  SSL *ssl = ssl_of(line);
  ERR_clear_error();
  errno = 0;
  return result_of(ssl, SSL_write(ssl, bytes, size > INT_MAX ? INT_MAX : (int)size), waits);
}

ssize_t tls_receive(tls_line *line, char *bytes, size_t size) {
  SSL *ssl = ssl_of(line);
  ERR_clear_error();
  errno = 0;
  return result_of(ssl, SSL_read(ssl, bytes, size > INT_MAX ? INT_MAX : (int)size), NULL);
}

int tls_is_open(const tls_line *line) {
  return SSL_is_init_finished(ssl_of(line));
}

void tls_end(tls_line *line) {
  SSL_free(ssl_of(line));
}
