/* TLS on a connected or connecting socket that does not block: tls-openssl.c, or tls-none.c. */
#ifndef TLS_H
#define TLS_H

#include <sys/types.h>

typedef struct tls_line tls_line;

/* Tells whether there is TLS in this program. */
int tls_is_here(void);
/* Begins TLS as a client of `host`, whose certificate must be of this name, and of an authority
 * that the system trusts. NULL: it cannot. */
tls_line *tls_begin(int fd, const char *host);
/* Like send(2) and recv(2). `waits`: the event of poll(2) to wait for before the next send; 0: any.
 * A certificate that is not trusted is EPROTO. */
ssize_t tls_send(tls_line *line, const char *bytes, size_t size, short *waits);
ssize_t tls_receive(tls_line *line, char *bytes, size_t size);
/* Tells whether the handshake was made. */
int tls_is_open(const tls_line *line);
/* Ends it; NULL: nothing. The socket stays the caller's. */
void tls_end(tls_line *line);

#endif
