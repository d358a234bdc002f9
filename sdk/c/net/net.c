/* A small client of HTTP/1.1 and WebSocket over TCP or TLS, as gatepost-net.h says. */
#define _POSIX_C_SOURCE 200809L
#include "gatepost-net.h"
#include "tls.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { LINKS_MAX = 8, URL_MAX = 640, WAIT_MAX = 60000, BYTES_MAX = 2 * 1024 * 1024 };
enum { CONTINUATION = 0, TEXT = 1, CLOSE = 8, PING = 9, PONG = 10 };

typedef struct {
  char *at;
  size_t used, size;
} bytes;

/* A request, or a socket. */
typedef struct {
  int fd; /* below 0: the link is free */
  uint32_t number;
  int is_socket, is_open;
  tls_line *tls; /* NULL: plain TCP */
  short waits;   /* the event of poll(2) that TLS waits for before it writes; 0: none */
  gatepost_fault fault;
  bytes in, out, frame;
} net_link;

static net_link links[LINKS_MAX];
static int is_ready;
static unsigned attempts;

int net_has_tls(void) {
  return tls_is_here();
}

uint64_t net_now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int net_random(unsigned char *out, size_t size) {
  FILE *file = fopen("/dev/urandom", "rb");
  int is_read = file != NULL && fread(out, 1, size, file) == size;
  if (file != NULL) fclose(file);
  return is_read;
}

/* Adds bytes, with a zero behind them. Returns 0 where they are too many. */
static int add(bytes *to, const void *from, size_t size) {
  if (to->used + size > BYTES_MAX) return 0;
  if (to->used + size + 1 > to->size) {
    to->size = 2 * (to->used + size) + 1024;
    to->at = realloc(to->at, to->size);
    if (to->at == NULL) abort();
  }
  memcpy(to->at + to->used, from, size);
  to->used += size;
  to->at[to->used] = '\0';
  return 1;
}

static void add_text(bytes *to, const char *text) {
  add(to, text, strlen(text));
}

static void take_away(bytes *from, size_t size) {
  memmove(from->at, from->at + size, from->used - size);
  from->used -= size;
}

static void drop(net_link *one) {
  tls_end(one->tls);
  if (one->fd >= 0) close(one->fd);
  free(one->in.at);
  free(one->out.at);
  free(one->frame.at);
  memset(one, 0, sizeof *one);
  one->fd = -1;
}

void net_drop(void) {
  for (int n = 0; n < LINKS_MAX; n++) {
    if (is_ready) drop(&links[n]);
    else links[n].fd = -1;
  }
  is_ready = 1;
}

static net_link *link_of(uint32_t number) {
  for (int n = 0; n < LINKS_MAX; n++) {
    if (links[n].fd >= 0 && links[n].number == number) return &links[n];
  }
  return NULL;
}

/* Connects to one address of a host, the next one at the next attempt. Below 0: it failed. */
static int connect_to(const char *host, const char *port, gatepost_fault *fault) {
  struct addrinfo hints, *found = NULL, *one;
  unsigned count = 0, which;
  int fd = -1;
  memset(&hints, 0, sizeof hints);
  hints.ai_socktype = SOCK_STREAM;
  *fault = GATEPOST_NO_NAME;
  if (getaddrinfo(host, port, &hints, &found) != 0) return -1;
  for (one = found; one != NULL; one = one->ai_next) count++;
  for (one = found, which = attempts++ % count; which > 0; which--) one = one->ai_next;
  *fault = GATEPOST_NO_ANSWER;
  fd = socket(one->ai_family, one->ai_socktype, one->ai_protocol);
  if (fd >= 0) {
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (connect(fd, one->ai_addr, one->ai_addrlen) != 0 && errno != EINPROGRESS) {
      if (errno == ECONNREFUSED) *fault = GATEPOST_REFUSED_PORT;
      close(fd);
      fd = -1;
    }
  }
  freeaddrinfo(found);
  return fd;
}

/* Splits HOST:PORT or [HOST]:PORT in place; returns the host. */
static char *split_host(char *host, const char **port) {
  char *colon, *name = host;
  if (*host == '[' && strchr(host, ']') != NULL) {
    name = host + 1;
    host = strchr(host, ']');
    *host++ = '\0';
  }
  colon = strchr(host, ':');
  if (colon != NULL) *colon = '\0';
  if (colon != NULL) *port = colon + 1;
  return name;
}

/* Opens a link and writes the head of its request. A failure is reported by net_wait. */
static void begin(const gatepost_order *order) {
  char host[URL_MAX], *path, *name, number[64];
  const char *from = strstr(order->url, "://");
  int is_secure = strncmp(order->url, "https:", 6) == 0 || strncmp(order->url, "wss:", 4) == 0;
  const char *port = is_secure ? "443" : "80";
  int is_socket = order->kind == GATEPOST_OPEN;
  net_link *one = NULL;
  for (int n = 0; n < LINKS_MAX && one == NULL; n++) {
    if (links[n].fd < 0 && links[n].number == 0) one = &links[n];
  }
  if (one == NULL || from == NULL || strlen(from) >= sizeof host) return;
  strcpy(host, from + 3);
  path = strchr(host, '/');
  if (path == NULL) return;
  *path++ = '\0';
  one->number = order->number;
  one->is_socket = is_socket;
  add_text(&one->out, is_socket ? "GET" : order->method);
  add_text(&one->out, " /");
  add_text(&one->out, path);
  add_text(&one->out, " HTTP/1.1\r\nhost: ");
  add_text(&one->out, host);
  name = split_host(host, &port);
  one->fd = connect_to(name, port, &one->fault);
  if (is_secure && one->fd >= 0) {
    one->tls = tls_begin(one->fd, name);
    /* Nothing is ever said in clear in place of TLS. */
    if (one->tls == NULL) {
      close(one->fd);
      one->fd = -1;
      one->fault = GATEPOST_NO_TLS;
    }
  }
  if (order->authorization != NULL) {
    add_text(&one->out, "\r\nauthorization: ");
    add_text(&one->out, order->authorization);
  }
  if (order->language != NULL) {
    add_text(&one->out, "\r\naccept-language: ");
    add_text(&one->out, order->language);
  }
  if (order->frame_max > 0) {
    snprintf(number, sizeof number, "\r\nx-frame-max: %d", order->frame_max);
    add_text(&one->out, number);
  }
  if (is_socket) {
    /* The answer to the key is not compared: it guards against caches, and there is none here. */
    add_text(&one->out, "\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13"
                        "\r\nsec-websocket-key: Z2F0ZXBvc3QtZHJpdmVyLQ==\r\n\r\n");
    return;
  }
  add_text(&one->out, "\r\nconnection: close\r\n");
  if (order->text != NULL) {
    snprintf(number, sizeof number, "content-length: %zu\r\n", order->size);
    add_text(&one->out, "content-type: application/json\r\n");
    add_text(&one->out, number);
  }
  add_text(&one->out, "\r\n");
  if (order->text != NULL) add(&one->out, order->text, order->size);
}

static void send_frame(net_link *one, int opcode, const char *text, size_t size) {
  unsigned char head[14], mask[4] = {0};
  size_t used = 2, at = one->out.used;
  head[0] = (unsigned char)(0x80 | opcode);
  if (size < 126) {
    head[1] = (unsigned char)(0x80 | size);
  } else {
    int width = size < 65536 ? 2 : 8;
    head[1] = (unsigned char)(0x80 | (width == 2 ? 126 : 127));
    while (width > 0) head[used++] = (unsigned char)((uint64_t)size >> 8 * --width);
  }
  net_random(mask, 4);
  memcpy(head + used, mask, 4);
  add(&one->out, head, used + 4);
  at = one->out.used;
  add(&one->out, text, size);
  for (size_t n = 0; n < size; n++) one->out.at[at + n] ^= (char)mask[n % 4];
}

void net_obey(const gatepost_order *order) {
  net_link *one;
  if (!is_ready) net_drop();
  if (order->kind == GATEPOST_REQUEST || order->kind == GATEPOST_OPEN) {
    begin(order);
    return;
  }
  one = link_of(order->number);
  if (one == NULL) return;
  if (order->kind == GATEPOST_SEND) send_frame(one, TEXT, order->text, order->size);
  else if (order->kind == GATEPOST_PING) send_frame(one, PING, "", 0);
  else drop(one);
}

/* Returns a header of an answer; NULL: it is not there. */
static const char *header(const char *head, const char *name) {
  size_t size = strlen(name);
  while ((head = strstr(head, "\r\n")) != NULL && head[2] != '\r') {
    head += 2;
    if (strncasecmp(head, name, size) == 0 && head[size] == ':') {
      return head + size + 1 + strspn(head + size + 1, " ");
    }
  }
  return NULL;
}

/* Takes chunks together, in place. Returns 1: all are there; 0: more is to come; -1: no chunks. */
static int join_chunks(bytes *in, size_t from) {
  size_t to = from, at = from;
  for (;;) {
    char *end, *line = memchr(in->at + at, '\n', in->used - at);
    unsigned long size;
    if (line == NULL) return 0;
    size = strtoul(in->at + at, &end, 16);
    if (end == in->at + at || size > BYTES_MAX) return -1;
    at = (size_t)(line + 1 - in->at);
    if (at + size + 2 > in->used) return 0;
    if (size == 0) break;
    memmove(in->at + to, in->at + at, size);
    to += size;
    at += size + 2;
  }
  in->used = to;
  return 1;
}

/* Reports a request that ended; status 0: without an answer. */
static void end_request(gatepost_device *device, net_link *one, int status, size_t from) {
  net_link done = *one;
  memset(one, 0, sizeof *one);
  one->fd = -1;
  if (device != NULL) {
    size_t size = status == 0 ? 0 : done.in.used - from;
    const char *wait_max = status == 0 ? NULL : header(done.in.at, "x-wait-max");
    if (wait_max != NULL) gatepost_wait_max(device, atoi(wait_max));
    if (status == 0) gatepost_failed(device, done.number, done.fault);
    else gatepost_answer(device, done.number, status, size == 0 ? "" : done.in.at + from, size);
  }
  drop(&done);
}

/* Reports the end of a socket. An attempt without an answer has status 0. */
static void end_socket(gatepost_device *device, net_link *one, int code, int status) {
  uint32_t number = one->number;
  gatepost_fault fault = one->fault;
  int has_failed = !one->is_open && status == 0;
  drop(one);
  if (device == NULL) return;
  if (has_failed) gatepost_failed(device, number, fault);
  else gatepost_socket_closed(device, number, code, status);
}

/* Reads what has come of an answer. */
static void read_answer(gatepost_device *device, net_link *one, int is_ended) {
  char *head = one->in.used > 0 ? strstr(one->in.at, "\r\n\r\n") : NULL;
  const char *length, *coding;
  size_t from, size;
  int status, chunks = -1;
  if (head == NULL) {
    if (is_ended) end_request(device, one, 0, 0);
    return;
  }
  from = (size_t)(head + 4 - one->in.at);
  size = one->in.used - from;
  status = atoi(one->in.at + strcspn(one->in.at, " "));
  length = header(one->in.at, "content-length");
  coding = header(one->in.at, "transfer-encoding");
  if (coding != NULL) {
    bytes copy = {NULL, 0, 0};
    add(&copy, one->in.at, one->in.used);
    chunks = join_chunks(&copy, from);
    if (chunks == 1) {
      free(one->in.at);
      one->in = copy;
    } else {
      free(copy.at);
    }
    if (chunks == 1) end_request(device, one, status, from);
    else if (chunks < 0 || is_ended) end_request(device, one, 0, 0);
  } else if (length != NULL) {
    size_t whole = strtoul(length, NULL, 10);
    if (size >= whole) one->in.used = from + whole;
    if (size >= whole) end_request(device, one, status, from);
    else if (is_ended) end_request(device, one, 0, 0);
  } else if (is_ended) {
    end_request(device, one, status, from);
  }
}

/* Takes one frame; returns 0 if there is no whole one, or the link is gone. */
static int read_frame(gatepost_device *device, net_link *one) {
  const unsigned char *at = (const unsigned char *)one->in.at;
  size_t size, head = 2;
  int opcode, is_last;
  uint32_t number = one->number;
  if (one->in.used < 2) return 0;
  opcode = at[0] & 15;
  is_last = at[0] >> 7;
  size = at[1] & 127;
  if (size >= 126) {
    head = size == 126 ? 4 : 10;
    if (one->in.used < head) return 0;
    size = 0;
    for (size_t n = 2; n < head; n++) size = size << 8 | at[n];
  }
  if (size > BYTES_MAX || (at[1] & 128) != 0) {
    end_socket(device, one, 1002, 0);
    return 0;
  }
  if (one->in.used < head + size) return 0;
  if (opcode == CLOSE) {
    char reason[126] = "";
    if (size > 2 && size < sizeof reason) memcpy(reason, at + head + 2, size - 2);
    if (device != NULL) gatepost_socket_reason(device, number, reason);
    end_socket(device, one, size < 2 ? 1005 : at[head] << 8 | at[head + 1], 0);
    return 0;
  }
  if (opcode == PING) send_frame(one, PONG, one->in.at + head, size);
  if (opcode == TEXT) one->frame.used = 0;
  if (opcode == TEXT || opcode == CONTINUATION) add(&one->frame, one->in.at + head, size);
  take_away(&one->in, head + size);
  if (opcode == PING || opcode == PONG) gatepost_socket_heard(device, number);
  else if (is_last) gatepost_socket_frame(device, number, one->frame.at, one->frame.used);
  return 1;
}

static void read_socket(gatepost_device *device, net_link *one, int is_ended) {
  uint32_t number = one->number;
  if (!one->is_open) {
    char *head = one->in.used > 0 ? strstr(one->in.at, "\r\n\r\n") : NULL;
    int status = head == NULL ? 0 : atoi(one->in.at + strcspn(one->in.at, " "));
    if (head != NULL && status != 101) {
      const char *ended = header(one->in.at, "x-ended");
      char reason[64] = "";
      if (ended != NULL) snprintf(reason, sizeof reason, "%.*s", (int)strcspn(ended, "\r"), ended);
      if (device != NULL) gatepost_socket_reason(device, number, reason);
      end_socket(device, one, 0, status);
      return;
    }
    if (head != NULL) {
      const char *ping = header(one->in.at, "x-ping-interval");
      int seconds = ping == NULL ? 0 : atoi(ping);
      take_away(&one->in, (size_t)(head + 4 - one->in.at));
      one->is_open = 1;
      gatepost_socket_opened(device, number, seconds);
    }
  }
  while (one->is_open && one->number == number && read_frame(device, one)) continue;
  if (is_ended && one->number == number) end_socket(device, one, 0, 0);
}

/* Sends what waits. Returns 0 if the link is over. */
static int send_some(net_link *one) {
  ssize_t sent;
  if (one->tls != NULL) sent = tls_send(one->tls, one->out.at, one->out.used, &one->waits);
  else sent = send(one->fd, one->out.at, one->out.used, MSG_NOSIGNAL);
  if (sent > 0) take_away(&one->out, (size_t)sent);
  if (sent >= 0 || errno == EAGAIN || errno == EINTR) return 1;
  if (errno == ECONNREFUSED) one->fault = GATEPOST_REFUSED_PORT;
  else if (one->tls != NULL && !tls_is_open(one->tls)) one->fault = GATEPOST_NO_TLS;
  return 0;
}

/* Reads all that is there. Returns 0 if the link is over. */
static int receive_some(net_link *one) {
  static char piece[65536];
  for (;;) {
    ssize_t got = one->tls != NULL ? tls_receive(one->tls, piece, sizeof piece)
                                   : recv(one->fd, piece, sizeof piece, 0);
    if (got > 0 && add(&one->in, piece, (size_t)got)) continue;
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return 1;
    if (got < 0 && errno == ECONNREFUSED) one->fault = GATEPOST_REFUSED_PORT;
    else if (one->tls != NULL && !tls_is_open(one->tls)) one->fault = GATEPOST_NO_TLS;
    return 0;
  }
}

/* Reads and writes what a link can. */
static void serve(gatepost_device *device, net_link *one, short events) {
  int is_ended = 0, may_send = (events & (one->waits == 0 ? POLLOUT : one->waits)) != 0;
  if (may_send && one->out.used > 0) is_ended = !send_some(one);
  if (!is_ended && (events & (POLLIN | POLLHUP | POLLERR)) != 0) is_ended = !receive_some(one);
  if (one->is_socket) read_socket(device, one, is_ended);
  else read_answer(device, one, is_ended);
}

int net_wait(gatepost_device *device, uint64_t wait_ms, int input) {
  struct pollfd waits[LINKS_MAX + 1];
  int has_failed = 0;
  if (!is_ready) net_drop();
  for (int n = 0; n < LINKS_MAX; n++) {
    waits[n].fd = links[n].fd;
    waits[n].events = POLLIN;
    if (links[n].out.used > 0) waits[n].events |= links[n].waits == 0 ? POLLOUT : links[n].waits;
    waits[n].revents = 0;
    if (links[n].fd < 0 && links[n].number != 0) has_failed = 1;
  }
  waits[LINKS_MAX].fd = input;
  waits[LINKS_MAX].events = POLLIN;
  waits[LINKS_MAX].revents = 0;
  if (has_failed) wait_ms = 0;
  poll(waits, LINKS_MAX + 1, wait_ms > WAIT_MAX ? WAIT_MAX : (int)wait_ms);
  if (device != NULL) gatepost_time(device, net_now_ms());
  for (int n = 0; n < LINKS_MAX && device != NULL; n++) {
    net_link *one = &links[n];
    if (one->fd < 0 && one->number != 0) {
      if (one->is_socket) end_socket(device, one, 0, 0);
      else end_request(device, one, 0, 0);
    } else if (one->fd >= 0 && waits[n].fd == one->fd && waits[n].revents != 0) {
      serve(device, one, waits[n].revents);
    }
  }
  return waits[LINKS_MAX].revents != 0;
}
