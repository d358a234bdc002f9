/*
 * A device of Gatepost: it registers, gets its messages by a stream, by polls and by pushes as one,
 * hands each to the app once, and acknowledges. It does no I/O: the app reports events and carries
 * out orders. docs/device-protocol.md says what travels; README.md shows the whole.
 *
 * One thread calls it. Texts are UTF-8. Nothing is allocated: the app brings one block of memory.
 */
#ifndef GATEPOST_H
#define GATEPOST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GATEPOST_VERSION "0.25.0"

/* Room for the largest answer of an inbox, bytes. With less, messages come in several answers. */
#define GATEPOST_INPUT_SIZE ((size_t)640 * 1024)
/* The longest text of a state, bytes: what a store must hold. */
#define GATEPOST_STATE_MAX ((size_t)40 * 1024)

typedef struct gatepost_device gatepost_device;

typedef enum {
  GATEPOST_STREAM, /* a WebSocket */
  GATEPOST_POLL,   /* where no socket may stay open */
  GATEPOST_FETCH   /* gets what waits, acknowledges it and ends: for a push in the background */
} gatepost_mode;

/* The kinds of orders; in brackets the fields set besides `kind`. */
typedef enum {
  GATEPOST_WAIT,    /* do nothing before the next event, or for `wait_ms` [wait_ms] */
  GATEPOST_REQUEST, /* ask by HTTP [number, method, url, authorization, language, frame_max,
                       text: JSON, or NULL] */
  GATEPOST_CANCEL,  /* drop a request that took too long [number] */
  GATEPOST_OPEN,    /* open a WebSocket [number, url, authorization, language, frame_max] */
  GATEPOST_SEND,    /* send a frame of text [number, text] */
  GATEPOST_PING,    /* send a WebSocket ping, and report its pong as heard [number] */
  GATEPOST_CUT,     /* end a WebSocket at once; report nothing of it any more [number] */
  GATEPOST_WRITE,   /* write the state whole, then call gatepost_written [text] */
  GATEPOST_MESSAGE, /* handle a message, then call gatepost_handled [id to message; text: the state
                       that knows this message, for an app that writes it with its effect] */
  GATEPOST_STATE,   /* show how the device is [state, reason, detail, text, limit, free_url] */
  GATEPOST_ENDED    /* drop all requests and sockets: nothing follows [state] */
} gatepost_kind;

typedef enum {
  GATEPOST_IS_OPEN,
  GATEPOST_IS_CLOSED,   /* it comes back by itself */
  GATEPOST_IS_REFUSED,  /* it ended: show the text, or else the detail, to the user */
  GATEPOST_IS_REPLACED, /* it ended: another stream of this device is in use */
  GATEPOST_IS_ENDED     /* a slot or a link ended; the device works on for the others */
} gatepost_state;

/* Why a request or a socket got no answer, as the app's library tells it. */
typedef enum {
  GATEPOST_NO_ANSWER,    /* none of these, or it is not told */
  GATEPOST_REFUSED_PORT, /* the host refused the connection */
  GATEPOST_NO_TLS,       /* TLS failed: a certificate is not trusted, or there is no TLS */
  GATEPOST_NO_NAME       /* the host was not found */
} gatepost_fault;

/* The answers of a handler: how to acknowledge. */
typedef enum {
  GATEPOST_USUAL, /* `executed` for a command, `received` for a notification */
  GATEPOST_RECEIVED, GATEPOST_OPENED, GATEPOST_EXECUTED, GATEPOST_FAILED,
  GATEPOST_KEPT /* as is usual, and the app has written the state of the order itself */
} gatepost_handling;

/* Texts are never NULL where the kind sets them, but for `authorization` and the body of a request.
 * They hold until the next call of gatepost_next; those of a message until gatepost_handled. */
typedef struct {
  gatepost_kind kind;
  uint32_t number;           /* of a request or a socket; their events carry it */
  uint32_t type;             /* 10 a notification, 20 a command */
  gatepost_state state;
  int64_t id;                /* of the message */
  uint64_t wait_ms;
  const char *method;        /* GET or POST */
  const char *url;
  const char *authorization; /* the value of that header; NULL: none */
  const char *language;      /* of the header Accept-Language; NULL: none */
  int frame_max;             /* of the header X-Frame-Max; 0: none */
  int limit;                 /* of devices of the link that refused; 0: not told */
  const char *text;
  size_t size;               /* of the text, bytes */
  const char *action;        /* of a command; empty: a notification */
  const char *title, *plain; /* plain text in the language of the device ... */
  const char *html, *link;   /* ... and of the plain body the HTML, which the server filtered */
  const char *message;       /* the whole message as JSON */
  size_t message_size;
  const char *reason;        /* why, in one word: README.md has them; empty: no word */
  const char *detail;        /* why, in English */
  const char *free_url;      /* where the user frees a slot; empty: nowhere */
} gatepost_order;

/* All texts are copied. */
typedef struct {
  const char *url;          /* https://HOST of the appliance */
  const char *base;         /* the path of its calls; NULL: /device */
  const char *registration; /* fields of POST /device/register but `hwid` and `push`, as JSON */
  const char *push;         /* {"gateway":"fcm","token":"..."}; NULL: none */
  const char *hwid;         /* the HWID that the app has; NULL: one is drawn once and kept */
  const char *locale;       /* the language of texts, such as pt-BR; NULL: the general ones */
  const char *state;        /* what was written last; NULL: nothing yet */
  size_t state_size;
  gatepost_mode mode;
  int ping;                 /* seconds between two pings of the stream, 15 to 600; 0: the usual */
  int asleep;               /* seconds between two polls, 15 to 86400; 0: one follows the other */
  int frame_max;            /* bytes of the largest frame or answer with several messages that the
                               app's library takes, 1024 to 65536; 0: any */
  int has_tls;              /* 1: the app's sockets speak TLS; 0: an https:// address is refused */
  int hides_pings;          /* 1: the WebSocket library does not report pings; it sends its own */
  double pace;              /* multiplies pauses and limits of time, for tests; 0: as they are */
  uint64_t now_ms;          /* the app's clock, best a steady one */
  unsigned char random[32]; /* 32 random bytes of the system, new at each start */
  void (*log)(void *context, const char *line); /* what it does, without secrets; NULL: nowhere */
  void *log_context;
} gatepost_options;

/* Returns how much memory a device takes, with room for `input_size` bytes of messages. */
size_t gatepost_size(size_t input_size);
/* Makes a device in memory that malloc, or a static array of uint64_t, gave. NULL: the memory is
 * too small, or an option does not fit: gatepost_misfit. The memory is the app's to free when the
 * device ended. */
gatepost_device *gatepost_new(void *memory, size_t size, const gatepost_options *options);
/* Tells in English what did not fit, where that gave NULL: with the same values. NULL: all fits. */
const char *gatepost_misfit(void *memory, size_t size, const gatepost_options *options);
/* Gives the next order, until it is GATEPOST_WAIT or GATEPOST_ENDED. To call after each event. */
gatepost_kind gatepost_next(gatepost_device *device, gatepost_order *order);

/* Events. What belongs to a request or socket that is over is ignored. */

/* The time, to report before other events. A clock that is set back does no harm. */
void gatepost_time(gatepost_device *device, uint64_t now_ms);
/* The header x-wait-max of an answer, to report before the answer: how long a poll may wait, s. */
void gatepost_wait_max(gatepost_device *device, int seconds);
/* The answer to a request. Status 0: none came. */
void gatepost_answer(gatepost_device *device, uint32_t number, int status, const char *bytes,
                     size_t size);
/* A request or an attempt of a socket failed before an answer: in place of their ends. */
void gatepost_failed(gatepost_device *device, uint32_t number, gatepost_fault fault);
/* A stream is open. `ping`: the header x-ping-interval of the answer; 0: none, or it is hidden. */
void gatepost_socket_opened(gatepost_device *device, uint32_t number, int ping);
void gatepost_socket_frame(gatepost_device *device, uint32_t number, const char *bytes,
                           size_t size);
void gatepost_socket_heard(gatepost_device *device, uint32_t number); /* a ping or a pong */
/* The reason of a close, or the header x-ended of a refused handshake: to report before the end. */
void gatepost_socket_reason(gatepost_device *device, uint32_t number, const char *reason);
/* The end of a socket, or of an attempt. Code 0: none; status 0: the library does not tell it. */
void gatepost_socket_closed(gatepost_device *device, uint32_t number, int code, int status);
/* The state was written (1), or could not be (0): then the order comes again after a while. */
void gatepost_written(gatepost_device *device, int is_written);
/* A message was handled; `detail` says why it failed, or is NULL. */
void gatepost_handled(gatepost_device *device, gatepost_handling handling, const char *detail);
/* A push came, as JSON; `was_shown`: the system showed it, so that the app must not. */
void gatepost_pushed(gatepost_device *device, const char *json, size_t size, int was_shown);
/* The user opened a notification. */
void gatepost_opened(gatepost_device *device, int64_t id);
/* Pushes go to another address from now on; NULL: to none. Returns 0 if that is no such JSON. */
int gatepost_set_push(gatepost_device *device, const char *push);
/* Ends at once: the next orders are a last GATEPOST_WRITE, if it is due, and GATEPOST_ENDED. */
void gatepost_close(gatepost_device *device);

/* Writes the headers for the fetch of a subscription, `x-hwid: ...` and its kin, a line each with
 * CR LF. Returns their size, bytes; 0: they do not fit. */
size_t gatepost_headers(const gatepost_device *device, char *out, size_t size);
/* The same before there is a device: of the app's HWID and its fields of a registration. */
size_t gatepost_headers_for(const char *hwid, const char *registration, char *out, size_t size);

/* Where a subscription's server takes devices: options of the device that the app makes when its
 * user wants one. */
typedef struct {
  char url[512], base[128], registration[3072];
} gatepost_server;
/* Reads the answer to a subscription's fetch with the headers above: the address that answered, and
 * the header x-device-server of the answer (NULL: none). `registration`: the app's other fields.
 * Returns 0 if that server takes no devices. */
int gatepost_discover(gatepost_server *out, const char *address, const char *x_device_server,
                      const char *registration);

/* Finds a field of a JSON object, such as `payload`. Returns 0 if it is not there, or the object
 * is none. The value stays where it is. */
int gatepost_field(const char *json, size_t size, const char *name, const char **value,
                   size_t *value_size);
/* Decodes a JSON text, cut where it does not fit, with a zero behind it. Returns its size, bytes;
 * 0: it is no text, or empty. */
size_t gatepost_decode(const char *json, size_t size, char *out, size_t out_size);

#ifdef __cplusplus
}
#endif

#endif
