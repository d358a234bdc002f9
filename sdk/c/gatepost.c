/* A device of Gatepost. gatepost.h describes its use, docs/device-protocol.md the protocol. */
#include "gatepost.h"

#include <stdarg.h>
#include <string.h>

/* Bounds. Sizes are bytes, with the zero behind a text. */
enum {
  SEEN_MAX = 1000, /* messages that are remembered, with what is owed for them */
  DETAILS_MAX = 16, /* reasons of failures that are remembered */
  DETAIL_SIZE = 256,
  ACKS_EACH = 100, /* acknowledgements in one frame */
  FRAMES_MAX = 8,  /* frames without an answer */
  ACK_REFUSALS_MAX = 10,
  ALIGNMENT = 16,
  DEPTH_MAX = 32, /* nested values of JSON */
  REPORTS_MAX = 4,
  URL_SIZE = 512, BASE_SIZE = 128, REGISTRATION_SIZE = 3072, PUSH_SIZE = 4608,
  BODY_SIZE = 24 * 1024,
  TOKEN_SIZE = 129, HWID_SIZE = 129, LOCALE_SIZE = 36, TEXTS_SIZE = 64 * 1024,
  REASON_SIZE = 40, SAID_SIZE = 1024, /* a word, and a text of the server in a language */
  FRAME_LEAST = 1024, FRAME_MOST = 65536
};

/* Times, ms. `pace` multiplies all but the wait of a poll. */
enum {
  PAUSE_FIRST_MS = 500, PAUSE_LAST_MS = 60 * 1000,
  REQUEST_MS = 30 * 1000, POLL_SECONDS = 60, POLL_SECONDS_MAX = 300,
  STEADY_MS = 10 * 1000, /* a stream that lasted so long resets the pauses */
  SILENCE_MS = 30 * 1000, PING_MIN = 15, PING_MAX = 600, ASLEEP_MAX = 86400,
  ACKS_TOGETHER_MS = 20,        /* acknowledgements of this time are sent together ... */
  ACKS_TOGETHER_LAST_MS = 1000, /* ... of this while messages wait */
  SPIN_MS = 1000, /* a poll that brings nothing so soon is answered by a pause */
  RENEWAL_MS = 3600 * 1000, /* two tokens that die within this: two devices have one HWID */
  IDLE_MS = 3600 * 1000
};

static const char *const TOKEN_ERROR = "Device token error";
static const int64_t ID_MAX = 999999999999999;
enum { NOTIFICATION = 10, COMMAND = 20 };

/* States of an acknowledgement, by bit. */
static const char *const STATE_NAMES[] = {"received", "opened", "executed", "failed"};
enum { RECEIVED, OPENED, EXECUTED, FAILED, STATES };

typedef struct {
  const char *at, *end;
} span;

typedef struct {
  char *at;
  size_t used, size;
  int is_full;
} buffer;

typedef struct {
  int64_t id;
  uint8_t state; /* by which a repeat is acknowledged */
  uint8_t owed;  /* bits of states that the server has not confirmed */
  uint8_t sent;  /* those of them that are under way ... */
  uint32_t frame; /* ... in this frame */
} seen_message;

typedef enum { PAUSED, IDLE, OPENING, OPEN, POLLING } line_state;
typedef enum { REGISTER, INBOX, ACK, WHOLE, REQUESTS } request_kind;

typedef struct {
  uint32_t number; /* 0: none is under way */
  uint32_t cancel; /* one to cancel */
  uint32_t token_version, frame;
  uint64_t began_at, deadline;
  int waits; /* a poll */
} request;

/* A report about the device, or the reason of its end. */
typedef struct {
  gatepost_state state;
  char reason[REASON_SIZE], detail[DETAIL_SIZE], text[SAID_SIZE], free_url[URL_SIZE];
  int limit;
} told;

struct gatepost_device {
  /* Values from the app; the time since the start, ms, and the app's clock. */
  char url[URL_SIZE], base[BASE_SIZE], registration[REGISTRATION_SIZE], push[PUSH_SIZE];
  char locale[LOCALE_SIZE];
  gatepost_mode mode;
  int ping, hides_pings, poll_seconds, wait_max, frame_max;
  uint64_t asleep_ms;
  void (*log)(void *context, const char *line);
  void *log_context;
  double pace;
  uint64_t now, clock, random;
  /* The stored state. */
  char hwid[HWID_SIZE], token[TOKEN_SIZE];
  seen_message seen[SEEN_MAX];
  struct { int64_t id; char text[DETAIL_SIZE]; } failures[DETAILS_MAX];
  size_t seen_count, failures_count;
  int is_dirty, is_writing;
  uint64_t write_at;
  /* The line to the server. */
  line_state line;
  uint32_t last_number, socket, cut;
  uint32_t token_version, socket_token_version, doubted_version;
  uint64_t pause_at, pause_ms, opened_at, heard_at, opening_until, renewed_at, register_at;
  int gave_up; /* an attempt without an answer, which the server may still open */
  int has_pinged, has_polled, is_fetched, has_renewed, wants_register, wants_inbox;
  char closing[REASON_SIZE]; /* why the socket ends, by the server's word */
  request requests[REQUESTS];
  /* Acknowledgements: their frames are counted; the stream answers its own in their order. */
  uint32_t last_frame, frames[FRAMES_MAX];
  size_t frames_count;
  int was_malformed, ack_refusals;
  uint64_t acks_until, acks_at, acks_sent_at, acks_pause_ms;
  /* Messages that wait, each with its size before it; the first may be with the app. */
  char *input;
  size_t input_size, input_from, input_to;
  int is_handling, handled_state;
  int is_over_full, is_refetching; /* messages had no room; and they come again, in their order */
  int64_t handled_id, stub_id; /* above 0: the first message that waits is a stub */
  uint64_t whole_at;

  int has_ended, was_end_reported;
  gatepost_state ending;
  told reports[REPORTS_MAX], given;
  size_t reports_count;
  /* Texts of orders. */
  char address[URL_SIZE + BASE_SIZE + 64], authorization[TOKEN_SIZE + 8], detail[DETAIL_SIZE];
  char body[BODY_SIZE], state_text[GATEPOST_STATE_MAX], texts[TEXTS_SIZE];
};

/* Writing texts. */

#define END ((const char *)NULL)

/* Puts bytes, and a zero behind them; from the first that do not fit on, none. */
static void put_bytes(buffer *out, const char *bytes, size_t size) {
  if (size >= out->size - out->used) out->is_full = 1;
  if (out->is_full) return;
  memcpy(out->at + out->used, bytes, size);
  out->used += size;
  out->at[out->used] = '\0';
}

static void put(buffer *out, const char *text) {
  put_bytes(out, text, strlen(text));
}

/* Puts several texts, up to NULL. */
static void put_all(buffer *out, ...) {
  va_list texts;
  va_start(texts, out);
  for (const char *text; (text = va_arg(texts, const char *)) != NULL;) put(out, text);
  va_end(texts);
}

/* Puts a number, and a text behind it. */
static void put_number(buffer *out, uint64_t number, const char *after) {
  char digits[24] = "";
  size_t at = sizeof digits - 1;
  do digits[--at] = (char)('0' + number % 10);
  while ((number /= 10) > 0);
  put_all(out, digits + at, after, END);
}

/* Puts a character as UTF-8; what is none becomes U+FFFD. */
static void put_character(buffer *out, unsigned code) {
  static const unsigned FIRST[] = {0, 0, 0xc0, 0xe0, 0xf0};
  char bytes[4];
  if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) code = 0xfffd;
  size_t size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (size_t n = size - 1; n > 0; n--, code >>= 6) bytes[n] = (char)(0x80 | (code & 0x3f));
  bytes[0] = (char)(FIRST[size] | code);
  put_bytes(out, bytes, size);
}

/* Puts a text as a JSON string. */
static void put_string(buffer *out, const char *text) {
  put(out, "\"");
  for (; *text != '\0'; text++) {
    if (*text == '"' || *text == '\\') put(out, "\\");
    put_bytes(out, (unsigned char)*text < 0x20 ? " " : text, 1);
  }
  put(out, "\"");
}

static buffer buffer_on(char *at, size_t size) {
  buffer out = {at, 0, size, 0};
  at[0] = '\0';
  return out;
}

static int is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static int is_digit(char c) {
  return c >= '0' && c <= '9';
}

static char lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static int digit_of(char c) {
  if (is_digit(c)) return c - '0';
  c = lower(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reading UTF-8 and JSON: a text is checked whole, once, then walked. */

/* Reads one character, and moves behind it; returns U+FFFD and one byte for what is none. */
static unsigned read_utf8(const char **at, const char *end) {
  static const unsigned LEAST[] = {0, 0x80, 0x800, 0x10000};
  const unsigned char *bytes = (const unsigned char *)*at;
  unsigned first = bytes[0], code;
  size_t more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
  *at += 1;
  if (more == 0) return first;
  if (first < 0xc2 || first > 0xf4 || (size_t)(end - *at) < more) return 0xfffd;
  code = first & (0x3fu >> more);
  for (size_t n = 1; n <= more; n++) {
    if ((bytes[n] & 0xc0) != 0x80) return 0xfffd;
    code = code << 6 | (bytes[n] & 0x3fu);
  }
  if (code < LEAST[more] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return 0xfffd;
  *at += more;
  return code;
}

static int is_utf8(const char *at, const char *end) {
  while (at < end) {
    const char *from = at;
    if (read_utf8(&at, end) == 0xfffd && at - from != 3) return 0;
  }
  return 1;
}

static const char *after_space(const char *at, const char *end) {
  while (at < end && is_space(*at)) at++;
  return at;
}

/* Reads the four digits of an escape; -1: they are none. */
static int read_hex(const char *at, const char *end) {
  int code = 0;
  if (end - at < 4) return -1;
  for (int n = 0; n < 4; n++) {
    if (digit_of(at[n]) < 0) return -1;
    code = code << 4 | digit_of(at[n]);
  }
  return code;
}

/* Returns the end of a string; NULL: it is none. */
static const char *after_string(const char *at, const char *end) {
  for (at++; at < end; at++) {
    if (*at == '"') return at + 1;
    if ((unsigned char)*at < 0x20) return NULL;
    if (*at != '\\') continue;
    if (++at == end || *at == '\0' || strchr("\"\\/bfnrtu", *at) == NULL) return NULL;
    if (*at == 'u' && read_hex(at + 1, end) < 0) return NULL;
  }
  return NULL;
}

static const char *after_digits(const char *at, const char *end) {
  const char *from = at;
  while (at < end && is_digit(*at)) at++;
  return at == from ? NULL : at;
}

static const char *after_number(const char *at, const char *end) {
  if (*at == '-' && ++at == end) return NULL;
  at = *at == '0' ? at + 1 : after_digits(at, end);
  if (at != NULL && at < end && *at == '.') at = after_digits(at + 1, end);
  if (at != NULL && at < end && lower(*at) == 'e') {
    if (++at < end && (*at == '+' || *at == '-')) at++;
    at = after_digits(at, end);
  }
  return at;
}

/* Returns the end of a value; NULL: it is none, or nested too deep. */
static const char *after_value(const char *at, const char *end, int depth) {
  if (at == end) return NULL;
  if (*at == '"') return after_string(at, end);
  if (*at == '-' || is_digit(*at)) return after_number(at, end);
  if (end - at >= 4 && memcmp(at, "true", 4) == 0) return at + 4;
  if (end - at >= 4 && memcmp(at, "null", 4) == 0) return at + 4;
  if (end - at >= 5 && memcmp(at, "false", 5) == 0) return at + 5;
  if ((*at != '{' && *at != '[') || depth == 0) return NULL;
  char closing = *at == '{' ? '}' : ']';
  at = after_space(at + 1, end);
  if (at < end && *at == closing) return at + 1;
  for (;; at = after_space(at + 1, end)) {
    if (closing == '}') {
      if (at == end || *at != '"' || (at = after_string(at, end)) == NULL) return NULL;
      at = after_space(at, end);
      if (at == end || *at != ':') return NULL;
      at = after_space(at + 1, end);
    }
    if ((at = after_value(at, end, depth - 1)) == NULL) return NULL;
    if ((at = after_space(at, end)) == end) return NULL;
    if (*at == closing) return at + 1;
    if (*at != ',') return NULL;
  }
}

static const span NOTHING = {NULL, NULL};

static int is_kind(span value, char opening) {
  return value.at != NULL && *value.at == opening;
}

/* Checks a text; returns its value; NOTHING: it is no JSON of UTF-8, or nested too deep. */
static span read_json(const char *bytes, size_t size) {
  if (bytes == NULL || !is_utf8(bytes, bytes + size)) return NOTHING;
  const char *end = bytes + size;
  span value = {after_space(bytes, end), NULL};
  value.end = after_value(value.at, end, DEPTH_MAX);
  return value.end == NULL || after_space(value.end, end) != end ? NOTHING : value;
}

/* Takes the next element of an array, or field of an object, of a checked text. `rest` begins as
 * the value, then stands at the comma or the closing bracket. Returns 0 at its end. */
static int next_of(span *rest, span *key, span *value) {
  const char *at = rest->at;
  if (at == NULL || *at == ']' || *at == '}') return 0;
  at = after_space(at + 1, rest->end);
  if (*at == ']' || *at == '}') return 0;
  if (key != NULL) {
    key->at = at;
    key->end = after_string(at, rest->end);
    at = after_space(after_space(key->end, rest->end) + 1, rest->end);
  }
  value->at = at;
  value->end = after_value(at, rest->end, DEPTH_MAX);
  rest->at = after_space(value->end, rest->end);
  return 1;
}

/* Reads one character of a string, and moves behind it. */
static unsigned read_escaped(const char **at, const char *end) {
  static const char NAMES[] = "bfnrt", VALUES[] = "\b\f\n\r\t";
  if (**at != '\\') return read_utf8(at, end);
  *at += 2;
  const char *name = strchr(NAMES, (*at)[-1]);
  if (name != NULL) return (unsigned char)VALUES[name - NAMES];
  if ((*at)[-1] != 'u') return (unsigned char)(*at)[-1];
  int code = read_hex(*at, end), second = -1;
  *at += 4;
  /* Two escapes are one character beyond U+FFFF. */
  if (code >> 10 == 0x36 && end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u') {
    second = read_hex(*at + 2, end);
  }
  if (second < 0 || second >> 10 != 0x37) return (unsigned)code;
  *at += 6;
  return 0x10000u + (unsigned)((code & 0x3ff) << 10 | (second & 0x3ff));
}

/* Decodes a string of a checked text; what is none is empty. Cut where it does not fit. */
static void put_decoded(buffer *out, span value) {
  if (!is_kind(value, '"')) return;
  const char *at = value.at + 1;
  while (at < value.end - 1) put_character(out, read_escaped(&at, value.end - 1));
}

static int is_text(span value, const char *text) {
  if (!is_kind(value, '"')) return 0;
  for (const char *at = value.at + 1; at < value.end - 1; text++) {
    if (*text == '\0' || read_escaped(&at, value.end - 1) != (unsigned char)*text) return 0;
  }
  return *text == '\0';
}

/* Finds a field of an object of a checked text. The last of several counts. */
static span field(span object, const char *name) {
  span key, value, found = NOTHING;
  if (!is_kind(object, '{')) return NOTHING;
  while (next_of(&object, &key, &value)) {
    if (is_text(key, name)) found = value;
  }
  return found;
}

/* Reads a whole number from 0 to ID_MAX, also as a text; -1: it is none. */
static int64_t number_in(span value) {
  int64_t number = 0;
  if (is_kind(value, '"')) value.at++, value.end--;
  if (value.at == NULL || value.at == value.end || value.end - value.at > 15) return -1;
  for (; value.at < value.end; value.at++) {
    if (!is_digit(*value.at)) return -1;
    number = number * 10 + (*value.at - '0');
  }
  return number;
}

int gatepost_field(const char *json, size_t size, const char *name, const char **value,
                   size_t *value_size) {
  span found = field(read_json(json, size), name);
  if (found.at == NULL) return 0;
  *value = found.at;
  *value_size = (size_t)(found.end - found.at);
  return 1;
}

size_t gatepost_decode(const char *json, size_t size, char *out, size_t out_size) {
  if (out_size == 0) return 0;
  buffer text = buffer_on(out, out_size);
  put_decoded(&text, read_json(json, size));
  return text.used;
}

/* Texts of a message. */

/* Puts a character of plain text: no space at the ends of a line, one empty line at most. */
static void put_plain(buffer *out, unsigned code) {
  char last = out->used > 0 ? out->at[out->used - 1] : '\n';
  if (code != '\n') {
    if (code != ' ' || last != '\n') put_character(out, code);
    return;
  }
  while (out->used > 0 && out->at[out->used - 1] == ' ') out->at[--out->used] = '\0';
  if (out->used > 1 && memcmp(out->at + out->used - 2, "\n\n", 2) == 0) return;
  if (out->used > 0) put(out, "\n");
}

/* Tells whether a name, in any case of letters, is one of several words. */
static int is_among(const char *at, size_t size, const char *words) {
  for (;; words++) {
    size_t same = 0;
    while (same < size && lower(at[same]) == words[same]) same++;
    if (same == size && (words[size] == ' ' || words[size] == '\0')) return 1;
    words += strcspn(words, " ");
    if (*words == '\0') return 0;
  }
}

/* Tells whether a tag, from behind its `<`, ends a line. */
static int ends_line(const char *at) {
  static const char *const BLOCKS = "p div li tr blockquote pre h1 h2 h3 h4 h5 h6";
  int is_closing = *at == '/';
  at += is_closing;
  return is_among(at, strcspn(at, " \t\r\n/>"), is_closing ? BLOCKS : "br");
}

/* Reads an entity behind its `&`; returns its size; 0: it is none. */
static size_t read_entity(const char *at, unsigned *code) {
  static const char *const NAMES[] = {"amp", "lt", "gt", "quot", "apos", "nbsp"};
  size_t size = 0, from = 1;
  int base = 10;
  while (size < 9 && at[size] != ';' && at[size] != '\0') size++;
  if (size < 2 || size > 8 || at[size] != ';') return 0;
  *code = 0;
  if (*at != '#') {
    for (size_t n = 0; n < sizeof NAMES / sizeof *NAMES; n++) {
      if (is_among(at, size, NAMES[n])) *code = (unsigned char)"&<>\"' "[n];
    }
    return *code == 0 ? 0 : size + 1;
  }
  if (lower(at[1]) == 'x') base = 16, from = 2;
  if (from == size) return 0;
  for (; from < size; from++) {
    int digit = digit_of(at[from]);
    if (digit < 0 || digit >= base) return 0;
    *code = *code * (unsigned)base + (unsigned)digit;
  }
  return *code > 0x10ffff ? 0 : size + 1;
}

/* Puts filtered HTML as plain text: blocks end lines, tags go, entities are read. */
static void put_plain_text(buffer *out, const char *html) {
  const char *at = html, *end, *stop = html + strlen(html);
  const char *last_tag = strrchr(html, '>');
  while (*at != '\0') {
    unsigned code = (unsigned char)*at;
    size_t size = 1;
    if (is_space(*at)) {
      while (is_space(*at)) at++;
      put_plain(out, ' ');
    } else if (*at == '<' && last_tag > at && (end = strchr(at, '>')) != NULL) {
      if (ends_line(at + 1)) put_plain(out, '\n');
      at = end + 1;
    } else if (*at == '&' && (size = read_entity(at + 1, &code)) > 0) {
      put_plain(out, code);
      at += size + 1;
    } else {
      code = read_utf8(&at, stop);
      put_plain(out, code);
    }
  }
  while (out->used > 0 && is_space(out->at[out->used - 1])) out->at[--out->used] = '\0';
}

/* Writes a language tag as it is compared: small letters, hyphens, and `cn` is Chinese. */
static void tidy_tag(char *tag) {
  char *from = tag, *to = tag;
  for (; *from != '\0'; from++) {
    if (!is_space(*from)) *to++ = *from == '_' ? '-' : lower(*from);
  }
  *to = '\0';
  if (strcmp(tag, "cn") == 0) memcpy(tag, "zh-cn", 6);
}

/* Returns the texts for a locale: of the same tag, else of its language, else of a kin. */
static span texts_for(span locales, const char *wanted) {
  span key, value, found = NOTHING;
  size_t language = strcspn(wanted, "-");
  int best = 4;
  if (!is_kind(locales, '{') || *wanted == '\0') return NOTHING;
  while (next_of(&locales, &key, &value)) {
    char tag[LOCALE_SIZE];
    buffer out = buffer_on(tag, sizeof tag);
    put_decoded(&out, key);
    tidy_tag(tag);
    size_t size = strcspn(tag, "-");
    int rank = size == language && memcmp(tag, wanted, size) == 0 ? tag[size] == '\0' ? 2 : 3 : 4;
    if (strcmp(tag, wanted) == 0) rank = 1;
    if (rank < best) found = value;
    if (rank < best) best = rank;
  }
  return found;
}

/* Decodes a text of the locale, or else the general one, into its part of `texts`. */
static const char *text_of(gatepost_device *d, size_t from, size_t size, span own,
                           const char *own_name, span payload, const char *name) {
  buffer out = buffer_on(d->texts + from, size);
  put_decoded(&out, field(own, own_name));
  if (out.used == 0) put_decoded(&out, field(payload, name));
  return out.at;
}

/* Tells why a message cannot be handled; empty: it can. */
static const char *unknown_in(gatepost_device *d, int64_t type, const char *action) {
  static const char *const ACTIONS[] = {"import-data", "update-subscription", "set-settings",
                                        "sub-change"};
  buffer out = buffer_on(d->detail, sizeof d->detail);
  if (type == NOTIFICATION) return out.at;
  for (size_t n = 0; n < sizeof ACTIONS / sizeof *ACTIONS; n++) {
    if (type == COMMAND && strcmp(action, ACTIONS[n]) == 0) return out.at;
  }
  put(&out, type == COMMAND ? "unknown action_type " : "unknown notification_type ");
  if (type == COMMAND) put(&out, action);
  else if (type >= 0) put_number(&out, (uint64_t)type, "");
  return out.at;
}

/* The stored state. */

static uint64_t paced(const gatepost_device *d, uint64_t ms) {
  return (uint64_t)((double)ms * d->pace);
}

/* A pause times a random number between 0.5 and 1.5. */
static uint64_t with_jitter(gatepost_device *d, uint64_t ms) {
  d->random ^= d->random << 13;
  d->random ^= d->random >> 7;
  d->random ^= d->random << 17;
  return ms / 2 + 1 + d->random % (ms + 1);
}

static seen_message *seen_of(gatepost_device *d, int64_t id) {
  for (size_t n = 0; n < d->seen_count; n++) {
    if (d->seen[n].id == id) return &d->seen[n];
  }
  return NULL;
}

/* Remembers a message; the oldest goes where there are too many. */
static seen_message *remember(gatepost_device *d, int64_t id, int state) {
  seen_message *known = seen_of(d, id), one = {id, (uint8_t)state, 0, 0, 0};
  if (known != NULL) return known;
  if (d->seen_count == SEEN_MAX) memmove(d->seen, d->seen + 1, --d->seen_count * sizeof *d->seen);
  d->seen[d->seen_count] = one;
  return &d->seen[d->seen_count++];
}

static void owe(gatepost_device *d, seen_message *one, int state) {
  one->owed |= (uint8_t)(1 << state);
  d->is_dirty = 1;
}

static const char *failure_of(const gatepost_device *d, int64_t id) {
  for (size_t n = 0; n < DETAILS_MAX; n++) {
    if (d->failures[n].id == id && id > 0) return d->failures[n].text;
  }
  return "";
}

static void remember_failure(gatepost_device *d, int64_t id, const char *text) {
  size_t n = d->failures_count++ % DETAILS_MAX;
  const char *end = text + strlen(text);
  buffer out = buffer_on(d->failures[n].text, DETAIL_SIZE);
  d->failures[n].id = id;
  while (text < end) {
    unsigned code = read_utf8(&text, end);
    put_character(&out, code < 0x20 || (code >= 0x7f && code < 0xa0) ? ' ' : code);
  }
}

/* Writes the state; with a message that the app handles, as if it were handled. */
static size_t write_state(gatepost_device *d, int64_t handled, int handled_state) {
  seen_message last = {handled, (uint8_t)handled_state, (uint8_t)(1 << handled_state), 0, 0};
  buffer out = buffer_on(d->state_text, sizeof d->state_text);
  put(&out, "{\"version\":1,\"hwid\":");
  put_string(&out, d->hwid);
  put(&out, ",\"token\":");
  put_string(&out, d->token);
  put(&out, ",\"seen\":[");
  for (size_t n = 0; n < d->seen_count + (handled > 0); n++) {
    const seen_message *one = n < d->seen_count ? &d->seen[n] : &last;
    put(&out, n > 0 ? ",\n[" : "\n[");
    put_number(&out, (uint64_t)one->id, ",");
    put_number(&out, one->state, ",");
    put_number(&out, one->owed, ",");
    put_string(&out, one->owed & 1 << FAILED ? failure_of(d, one->id) : "");
    put(&out, "]");
  }
  put(&out, "]}\n");
  return out.used;
}

static int is_visible(const char *text, size_t size) {
  for (size_t n = 0; n < size; n++) {
    if (text[n] <= 0x20 || text[n] > 0x7e || text[n] == ',') return 0;
  }
  return size > 0;
}

/* Reads a state; what does not fit is left out. Returns 0 if it is none, or of another HWID than
 * was given. */
static int read_state(gatepost_device *d, const char *text, size_t size) {
  span root = read_json(text, size), seen = field(root, "seen"), one, value;
  char hwid[HWID_SIZE], token[TOKEN_SIZE];
  buffer out = buffer_on(hwid, sizeof hwid), token_out = buffer_on(token, sizeof token);
  put_decoded(&out, field(root, "hwid"));
  put_decoded(&token_out, field(root, "token"));
  if (out.is_full || !is_visible(hwid, out.used)) return 0;
  if (*d->hwid != '\0' && strcmp(d->hwid, hwid) != 0) return 0;
  memcpy(d->hwid, hwid, sizeof hwid);
  if (is_visible(token, token_out.used)) memcpy(d->token, token, sizeof token);
  if (!is_kind(seen, '[')) seen = NOTHING;
  while (next_of(&seen, NULL, &one)) {
    int64_t numbers[] = {0, 0, 0};
    char detail[DETAIL_SIZE];
    buffer detail_out = buffer_on(detail, sizeof detail);
    if (!is_kind(one, '[')) continue;
    for (int n = 0; next_of(&one, NULL, &value); n++) {
      if (n < 3) numbers[n] = number_in(value);
      else put_decoded(&detail_out, value);
    }
    if (numbers[0] < 1 || numbers[1] < 0 || numbers[1] >= STATES) continue;
    if (numbers[2] < 0 || numbers[2] >= 1 << STATES) continue;
    remember(d, numbers[0], (int)numbers[1])->owed = (uint8_t)numbers[2];
    if (*detail != '\0') remember_failure(d, numbers[0], detail);
  }
  return 1;
}

/* Endings, reports and pauses. */

static void drop_report(gatepost_device *d) {
  memmove(d->reports, d->reports + 1, --d->reports_count * sizeof *d->reports);
}

/* Writes a line of the log; `number` below 0: it has none. */
static void note(const gatepost_device *d, const char *what, const char *which, int64_t number) {
  char line[URL_SIZE + DETAIL_SIZE];
  buffer out = buffer_on(line, sizeof line);
  if (d->log == NULL) return;
  put_all(&out, what, which, END);
  if (number >= 0) put_number(&out, (uint64_t)number, "");
  d->log(d->log_context, line);
}

/* Reports a state, with what an answer of the server says of it: `root`, or NOTHING. */
static void report_as(gatepost_device *d, gatepost_state state, const char *reason,
                      const char *detail, span root) {
  if (d->has_ended) return;
  if (d->reports_count == REPORTS_MAX) drop_report(d);
  told *one = &d->reports[d->reports_count++];
  memset(one, 0, sizeof *one);
  one->state = state;
  buffer word = buffer_on(one->reason, REASON_SIZE), out = buffer_on(one->detail, DETAIL_SIZE);
  buffer text = buffer_on(one->text, SAID_SIZE), url = buffer_on(one->free_url, URL_SIZE);
  put(&word, reason);
  if (*reason == '\0') put_decoded(&word, field(root, "reason"));
  put(&out, detail);
  put_decoded(&text, field(root, "text"));
  put_decoded(&url, field(root, "free_url"));
  int64_t limit = number_in(field(root, "limit"));
  one->limit = limit > 0 && limit < 1000000 ? (int)limit : 0;
  note(d, (const char *[]){"open ", "closed ", "refused ", "replaced ", "ended "}[state],
       *one->detail == '\0' ? one->reason : one->detail, -1);
}

static void report(gatepost_device *d, gatepost_state state, const char *detail) {
  report_as(d, state, "", detail, NOTHING);
}

static void end_as(gatepost_device *d, gatepost_state state, const char *reason,
                   const char *detail, span root) {
  if (d->has_ended) return;
  if (state != GATEPOST_IS_CLOSED) report_as(d, state, reason, detail, root);
  d->ending = state;
  d->has_ended = 1;
}

static void end_with(gatepost_device *d, gatepost_state state, const char *detail) {
  end_as(d, state, "", detail, NOTHING);
}

/* The slots of the token ended: it is forgotten, and none is asked for again. */
static void freed(gatepost_device *d, uint32_t version, const char *reason, span root) {
  if (version != d->token_version) return;
  *d->token = '\0';
  d->token_version++;
  d->is_dirty = 1;
  end_as(d, GATEPOST_IS_REFUSED, reason, "a slot of this device ended", root);
}

/* Says that there was no answer to rely on: the word, and a sentence with the address. */
static void report_fault(gatepost_device *d, const char *word) {
  static const char *const SENTENCES[][2] = {
      {"refused_port", " refused the connection: nothing listens there"},
      {"tls", " does not speak TLS, or its certificate is not trusted"},
      {"name", ": this host was not found"},
      {"timeout", " did not answer in time"},
      {"not_json", " answered a page, not an answer of Gatepost"},
      {"wrong_path", " has no devices at this path (404)"},
      {"no_answer", " gave no answer"}};
  char detail[DETAIL_SIZE];
  buffer out = buffer_on(detail, sizeof detail);
  size_t n = 0;
  while (strcmp(SENTENCES[n][0], word) != 0) n++;
  put_all(&out, d->url, d->base, SENTENCES[n][1], END);
  report_as(d, GATEPOST_IS_CLOSED, word, detail, NOTHING);
}

/* Returns the pause after one. */
static uint64_t longer(const gatepost_device *d, uint64_t ms) {
  uint64_t last = paced(d, PAUSE_LAST_MS);
  return 2 * ms > last ? last : 2 * ms;
}

static void pause_line(gatepost_device *d) {
  d->line = PAUSED;
  d->pause_at = d->now + with_jitter(d, d->pause_ms);
  d->pause_ms = longer(d, d->pause_ms);
}

/* A token died: it is forgotten, and the device registers again, once. One that was renewed
 * meanwhile is no reason; one that a registration showed whose answer was lost does not count. */
static void token_died(gatepost_device *d, uint32_t version) {
  if (version != d->token_version || d->requests[REGISTER].number != 0) return;
  *d->token = '\0';
  d->token_version++;
  d->is_dirty = 1;
  if (d->token_version == d->doubted_version) return;
  if (d->has_renewed && d->now - d->renewed_at < paced(d, RENEWAL_MS)) {
    end_with(d, GATEPOST_IS_REFUSED, "another device registers this HWID");
  }
  d->has_renewed = 1;
  d->renewed_at = d->now;
}

/* Messages: into the input, out to the app, and their acknowledgements. */

/* Makes room behind the messages that wait. Those with the app stay where they are. */
static void pack_input(gatepost_device *d) {
  if (d->is_handling || d->input_from == 0) return;
  memmove(d->input, d->input + d->input_from, d->input_to - d->input_from);
  d->input_to -= d->input_from;
  d->input_from = 0;
}

/* Keeps a message until the app takes it. Returns 1 if it is new. */
static size_t keep_message(gatepost_device *d, span message) {
  size_t size = (size_t)(message.end - message.at), head = sizeof size;
  int64_t id = is_kind(message, '{') ? number_in(field(message, "id")) : -1;
  if (id < 1) return 0;
  if (size > d->input_size - head) {
    remember_failure(d, id, "longer than the app takes");
    owe(d, remember(d, id, FAILED), FAILED);
  } else if (d->is_over_full || head + size > d->input_size - d->input_to) {
    d->is_over_full = 1;
  } else {
    /* The message of a push lies there already, behind the place of its size. */
    memmove(d->input + d->input_to + head, message.at, size);
    memcpy(d->input + d->input_to, &size, head);
    d->input_to += head + size;
  }
  return seen_of(d, id) == NULL;
}

/* Takes the messages of an answer, and reports the places that ended. */
static size_t keep_messages(gatepost_device *d, span root) {
  span message, data = field(root, "data"), ended = field(root, "ended");
  size_t count = 0;
  while (is_kind(ended, '[') && next_of(&ended, NULL, &message)) {
    report_as(d, GATEPOST_IS_ENDED, "", "a slot of this device ended", message);
  }
  if (!is_kind(data, '[')) return 0;
  pack_input(d);
  while (next_of(&data, NULL, &message)) count += keep_message(d, message);
  return count;
}

static void drop_message(gatepost_device *d) {
  size_t size;
  memcpy(&size, d->input + d->input_from, sizeof size);
  d->input_from += sizeof size + size;
  if (d->input_from == d->input_to) d->input_from = d->input_to = 0;
}

/* A message that is larger than the device takes with others: it is fetched alone. */
static int is_stub(span message) {
  span stub = field(message, "stub");
  return is_kind(stub, 't');
}

static void reverse(char *from, char *to) {
  for (char one; from < --to; *to = one) {
    one = *from;
    *from++ = *to;
  }
}

/* Takes the whole message in place of its stub. What has no room behind it is fetched again. */
static void take_whole(gatepost_device *d, span data) {
  span message, found = NOTHING;
  while (is_kind(data, '[') && next_of(&data, NULL, &message)) {
    int is_it = is_kind(message, '{') && number_in(field(message, "id")) == d->stub_id;
    if (is_it && !is_stub(message)) found = message;
  }
  d->stub_id = 0;
  drop_message(d);
  if (found.at == NULL) return; /* it is no more */
  pack_input(d);
  size_t size = sizeof size + (size_t)(found.end - found.at);
  int is_over_full = d->is_over_full;
  if (size > d->input_size - d->input_to) {
    is_over_full |= d->input_to > 0;
    d->input_to = 0;
  }
  size_t behind = d->input_to;
  d->is_over_full = 0;
  keep_message(d, found);
  d->is_over_full = is_over_full;
  if (is_over_full) d->is_fetched = 0;
  if (d->input_to == behind) return; /* it is longer than the app takes */
  reverse(d->input, d->input + behind);
  reverse(d->input + behind, d->input + d->input_to);
  reverse(d->input, d->input + d->input_to);
}

/* Gives the next message that is new to the app. What was seen is acknowledged again: the first
 * acknowledgement may be lost. */
static int give_message(gatepost_device *d, gatepost_order *order) {
  if (d->stub_id > 0) return 0;
  for (size_t size; d->input_from < d->input_to; drop_message(d)) {
    memcpy(&size, d->input + d->input_from, sizeof size);
    const char *at = d->input + d->input_from + sizeof size;
    span message = {at, at + size}, payload = field(message, "payload");
    int64_t type = number_in(field(message, "notification_type"));
    d->handled_id = number_in(field(message, "id"));
    d->handled_state = type == COMMAND ? EXECUTED : RECEIVED;
    buffer action = buffer_on(d->texts, 128), plain = buffer_on(d->texts + 40 * 1024, 24 * 1024);
    put_decoded(&action, field(payload, "action_type"));
    seen_message *before = seen_of(d, d->handled_id);
    if (before == NULL && is_stub(message)) {
      d->stub_id = d->handled_id;
      return 0;
    }
    const char *unknown = before == NULL ? unknown_in(d, type, action.at) : "";
    if (*unknown != '\0') remember_failure(d, d->handled_id, unknown);
    if (*unknown != '\0') before = remember(d, d->handled_id, FAILED);
    if (before != NULL) {
      owe(d, before, before->state);
      continue;
    }
    span own = texts_for(field(payload, "locales"), d->locale);
    order->kind = GATEPOST_MESSAGE;
    order->id = d->handled_id;
    order->type = (uint32_t)type;
    order->action = action.at;
    order->title = text_of(d, 128, 7 * 1024, own, "title", payload, "title");
    order->html = text_of(d, 8 * 1024, 24 * 1024, own, "body", payload, "body");
    order->link = text_of(d, 32 * 1024, 8 * 1024, own, "link-for-open", payload, "link_for_open");
    put_plain_text(&plain, order->html);
    order->plain = plain.at;
    order->message = at;
    order->message_size = size;
    order->size = write_state(d, d->handled_id, d->handled_state);
    order->text = d->state_text;
    d->is_handling = 1;
    return 1;
  }
  return 0;
}

void gatepost_handled(gatepost_device *d, gatepost_handling handling, const char *detail) {
  int state = d->handled_state, was_dirty = d->is_dirty;
  if (!d->is_handling) return;
  d->is_handling = 0;
  if (handling >= GATEPOST_RECEIVED && handling <= GATEPOST_FAILED) {
    state = (int)handling - GATEPOST_RECEIVED;
  }
  if (state == FAILED && detail != NULL) remember_failure(d, d->handled_id, detail);
  owe(d, remember(d, d->handled_id, state), state);
  /* Changes while the app had the message are not in the state that it wrote. */
  if (handling == GATEPOST_KEPT) d->is_dirty = was_dirty;
  drop_message(d);
}

/* Counts the messages for which something is owed; `with_sent`: also what is under way. */
static size_t count_owed(const gatepost_device *d, int with_sent) {
  size_t count = 0;
  for (const seen_message *one = d->seen; one < d->seen + d->seen_count; one++) {
    count += one->owed != 0 && (with_sent || one->sent == 0);
  }
  return count;
}

/* A frame of acknowledgements is over: confirmed, or never to be, or to be sent again. */
static void settle_acks(gatepost_device *d, uint32_t frame, int is_over) {
  for (size_t n = 0; n < d->seen_count; n++) {
    if (d->seen[n].sent == 0 || d->seen[n].frame != frame) continue;
    if (is_over) d->seen[n].owed &= (uint8_t)~d->seen[n].sent;
    if (is_over) d->is_dirty = 1;
    d->seen[n].sent = 0;
  }
  if (!is_over) return;
  d->ack_refusals = 0;
  d->acks_pause_ms = paced(d, PAUSE_FIRST_MS);
}

/* The stream answered the oldest of its frames, or will not. */
static void settle_frame(gatepost_device *d, int is_over) {
  if (d->frames_count == 0) return;
  settle_acks(d, d->frames[0], is_over);
  memmove(d->frames, d->frames + 1, --d->frames_count * sizeof *d->frames);
  d->acks_until = d->now + paced(d, REQUEST_MS);
}

/* A call failed. What the server never takes is dropped: its message comes again if it counts. */
static void acks_failed(gatepost_device *d, uint32_t frame, int was_refused) {
  if (was_refused) d->ack_refusals++;
  settle_acks(d, frame, d->ack_refusals >= ACK_REFUSALS_MAX);
  d->acks_at = d->now + with_jitter(d, d->acks_pause_ms);
  d->acks_pause_ms = longer(d, d->acks_pause_ms);
}

/* Writes what is owed, as many as one frame takes. */
static size_t write_acks(gatepost_device *d) {
  buffer out = buffer_on(d->body, sizeof d->body);
  int count = 0;
  d->last_frame++;
  put(&out, "{\"items\":[");
  for (size_t n = 0; n < d->seen_count; n++) {
    seen_message *one = &d->seen[n];
    int is_under_way = one->sent != 0;
    for (int state = 0; state < STATES && count < ACKS_EACH && !is_under_way; state++) {
      const char *detail = state == FAILED ? failure_of(d, one->id) : "";
      if ((one->owed & 1 << state) == 0) continue;
      put(&out, count++ > 0 ? ",{\"id\":" : "{\"id\":");
      put_number(&out, (uint64_t)one->id, ",\"state\":");
      put_string(&out, STATE_NAMES[state]);
      if (*detail != '\0') {
        put(&out, ",\"detail\":");
        put_string(&out, detail);
      }
      put(&out, "}");
      one->sent |= (uint8_t)(1 << state);
      one->frame = d->last_frame;
    }
  }
  put(&out, "]}");
  d->acks_sent_at = d->now;
  return out.used;
}

/* Orders to the server. */

/* Writes address, which a value above 0 ends, and headers; `http` becomes `scheme`. */
static int aim(gatepost_device *d, gatepost_order *order, const char *scheme, const char *path,
               int64_t value) {
  buffer out = buffer_on(d->address, sizeof d->address);
  put_all(&out, scheme, d->url + 4, d->base, path, END);
  if (value > 0) put_number(&out, (uint64_t)value, "");
  order->url = d->address;
  order->language = *d->locale == '\0' ? NULL : d->locale;
  order->frame_max = d->frame_max;
  note(d, order->kind == GATEPOST_OPEN ? "opens " : "asks ", d->address, -1);
  out = buffer_on(d->authorization, sizeof d->authorization);
  put_all(&out, "Bearer ", d->token, END);
  order->authorization = *d->token == '\0' ? NULL : d->authorization;
  return 1;
}

static int ask(gatepost_device *d, gatepost_order *order, request_kind kind, const char *path) {
  request *one = &d->requests[kind];
  int is_poll = kind == INBOX && strchr(path, '?') != NULL;
  one->number = ++d->last_number;
  one->token_version = d->token_version;
  one->began_at = d->now;
  one->waits = is_poll;
  one->deadline = d->now + paced(d, REQUEST_MS) + (is_poll ? (uint64_t)d->poll_seconds * 1000 : 0);
  order->kind = GATEPOST_REQUEST;
  order->number = one->number;
  order->method = kind == INBOX || kind == WHOLE ? "GET" : "POST";
  int64_t value = kind == WHOLE ? d->stub_id : is_poll ? d->poll_seconds : 0;
  return aim(d, order, "http", path, value);
}

static int ask_register(gatepost_device *d, gatepost_order *order) {
  buffer out = buffer_on(d->body, sizeof d->body);
  const char *fields = after_space(d->registration + 1, d->registration + sizeof d->registration);
  put(&out, "{\"hwid\":");
  put_string(&out, d->hwid);
  if (*d->push != '\0') put_all(&out, ",\"push\":", d->push, END);
  put_all(&out, *fields == '}' ? "" : ",", fields, END);
  order->text = out.at;
  order->size = out.used;
  d->wants_register = 0;
  return ask(d, order, REGISTER, "/register");
}

static int open_socket(gatepost_device *d, gatepost_order *order) {
  d->line = OPENING;
  d->socket = ++d->last_number;
  d->socket_token_version = d->token_version;
  d->opening_until = d->now + paced(d, REQUEST_MS);
  order->kind = GATEPOST_OPEN;
  order->number = d->socket;
  return aim(d, order, "ws", d->ping > 0 ? "/stream?ping=" : "/stream", d->ping);
}

/* Acknowledges on the stream, else by a request; an opening stream is awaited. */
static int acknowledge(gatepost_device *d, gatepost_order *order) {
  int is_open = d->line == OPEN, has_messages = d->input_from < d->input_to;
  size_t count = count_owed(d, 0);
  /* The server takes 100 frames in a second. */
  uint64_t next_at = d->acks_sent_at + (has_messages ? ACKS_TOGETHER_LAST_MS : ACKS_TOGETHER_MS);
  int is_early = d->now < next_at && count < ACKS_EACH;
  if (count == 0 || *d->token == '\0' || d->line == OPENING) return 0;
  if (d->requests[REGISTER].number != 0) return 0;
  if (is_open && (is_early || d->frames_count == FRAMES_MAX)) return 0;
  if (!is_open && (d->now < d->acks_at || d->requests[ACK].number != 0)) return 0;
  order->size = write_acks(d);
  order->text = d->body;
  if (!is_open) {
    d->requests[ACK].frame = d->last_frame;
    return ask(d, order, ACK, "/ack");
  }
  if (d->frames_count == 0) d->acks_until = d->now + paced(d, REQUEST_MS);
  d->frames[d->frames_count++] = d->last_frame;
  order->kind = GATEPOST_SEND;
  order->number = d->socket;
  return 1;
}

/* Registers, opens the stream, polls: what is due on the line. */
static int connect_line(gatepost_device *d, gatepost_order *order) {
  int may_register = d->requests[REGISTER].number == 0, is_asking = d->requests[INBOX].number != 0;
  if (d->line == PAUSED && d->now >= d->pause_at) d->line = IDLE;
  if (d->line == PAUSED || d->line == OPENING) return 0;
  int is_due = *d->token == '\0' ? d->line == IDLE : d->wants_register && d->now >= d->register_at;
  if (may_register && is_due) return ask_register(d, order);
  if (d->line != IDLE || !may_register || is_asking || *d->token == '\0') return 0;
  if (d->mode == GATEPOST_STREAM) return open_socket(d, order);
  /* A message that is not acknowledged would come at once, again and again. */
  if (d->input_from < d->input_to || d->is_fetched) return 0;
  if (d->requests[ACK].number != 0 || (count_owed(d, 1) > 0 && d->now >= d->acks_at)) return 0;
  d->line = POLLING;
  d->wants_inbox = d->is_over_full = 0;
  int waits = d->has_polled && d->mode == GATEPOST_POLL && d->asleep_ms == 0;
  return ask(d, order, INBOX, waits ? "/inbox?wait=" : "/inbox");
}

/* Asks the inbox for a push, for what did not fit, or whether the token is good. */
static int fetch_inbox(gatepost_device *d, gatepost_order *order) {
  if (!d->wants_inbox && !d->is_over_full) return 0;
  if (*d->token == '\0' || d->input_from < d->input_to || d->mode == GATEPOST_FETCH) return 0;
  if (d->requests[INBOX].number != 0 || d->requests[REGISTER].number != 0) return 0;
  int may_acknowledge = d->line == OPEN || d->now >= d->acks_at;
  if (d->is_over_full && may_acknowledge && count_owed(d, 1) > 0) return 0;
  if (d->is_over_full && d->now < d->whole_at) return 0;
  d->is_refetching = d->is_over_full;
  d->wants_inbox = d->is_over_full = 0;
  return ask(d, order, INBOX, "/inbox");
}

/* Fetches the message whose stub is the next one. */
static int fetch_whole(gatepost_device *d, gatepost_order *order) {
  if (d->stub_id == 0 || *d->token == '\0' || d->now < d->whole_at) return 0;
  if (d->requests[WHOLE].number != 0 || d->requests[REGISTER].number != 0) return 0;
  return ask(d, order, WHOLE, "/inbox?id=");
}

/* Events of the line. */

/* `word`: why there was no answer; NULL: there was one, or the library does not tell. */
static void line_closed(gatepost_device *d, int code, int status, const char *detail,
                        const char *word) {
  int was_open = d->line == OPEN;
  if (code == 1007 && !d->was_malformed) settle_frame(d, 1);
  while (d->frames_count > 0) settle_frame(d, 0);
  d->socket = 0;
  if (was_open) {
    report(d, GATEPOST_IS_CLOSED, detail);
    if (d->now - d->opened_at >= paced(d, STEADY_MS)) {
      d->pause_ms = paced(d, PAUSE_FIRST_MS);
      d->gave_up = 0;
    }
  } else if (word != NULL) {
    report_fault(d, word);
    d->gave_up |= strcmp(word, "timeout") == 0 || strcmp(word, "no_answer") == 0;
  } else if (status > 1) {
    report(d, GATEPOST_IS_CLOSED, detail);
  }
  if (code == 4004) freed(d, d->socket_token_version, d->closing, NOTHING);
  else if (code == 4002 && d->gave_up) d->gave_up = 0; /* its own attempt came late */
  else if (code == 4002) {
    end_with(d, GATEPOST_IS_REPLACED, "another stream of this device is in use");
  } else if (code == 4001) token_died(d, d->socket_token_version);
  /* Why a handshake was refused, the inbox says. */
  else if (!was_open && (status == 0 || status == 401)) d->wants_inbox = 1;
  *d->closing = '\0';
  pause_line(d);
}

static void cut_socket(gatepost_device *d, const char *detail, const char *word) {
  d->cut = d->socket;
  line_closed(d, 0, 1, detail, word);
}

/* The contents of an answer; `rc` is -1 if it cannot be relied on: `fault` says why. */
typedef struct {
  int64_t rc;
  span root, msg;
  const char *fault;
} answer;

static answer read_answer(const char *bytes, size_t size) {
  span root = read_json(bytes, size), msg = field(root, "msg");
  int is_page = root.at == NULL && size > 0;
  answer read = {is_kind(msg, '"') ? number_in(field(root, "rc")) : -1, root, msg,
                 is_page ? "not_json" : "no_answer"};
  return read;
}

/* A token was refused: it died, or, where a reason is given, its slots ended. */
static void token_refused(gatepost_device *d, uint32_t version, span root) {
  if (is_kind(field(root, "reason"), '"')) freed(d, version, "", root);
  else token_died(d, version);
}

static void registered(gatepost_device *d, const request *asked, const answer *said) {
  char token[TOKEN_SIZE], msg[DETAIL_SIZE];
  buffer token_out = buffer_on(token, sizeof token), out = buffer_on(msg, sizeof msg);
  put_decoded(&token_out, field(said->root, "device_token"));
  put_decoded(&out, said->msg);
  if (said->rc == 1 && !token_out.is_full && is_visible(token, token_out.used)) {
    memcpy(d->token, token, sizeof token);
    d->token_version++;
    d->is_dirty = 1;
    return;
  }
  d->wants_register = 1;
  d->register_at = d->now + with_jitter(d, paced(d, PAUSE_LAST_MS));
  if (said->rc < 0 && *d->token != '\0') d->doubted_version = d->token_version + 1;
  if (said->rc < 0) {
    report_fault(d, said->fault);
  } else if (said->rc == 0 && strcmp(msg, TOKEN_ERROR) == 0 && *d->token != '\0') {
    token_refused(d, asked->token_version, said->root);
  } else if (said->rc == 1 || strcmp(msg, "Too many requests") == 0 ||
             strcmp(msg, "Unknown error") == 0) {
    report(d, GATEPOST_IS_CLOSED, msg);
  } else {
    end_as(d, GATEPOST_IS_REFUSED, "", msg, said->root);
  }
  if (*d->token == '\0' && d->line == IDLE) pause_line(d);
}

static void inbox_answered(gatepost_device *d, const request *asked, const answer *said) {
  int was_polling = d->line == POLLING, has_failed = said->rc != 1 && d->is_refetching;
  int is_over_full = d->is_over_full || has_failed;
  d->is_refetching = d->is_over_full = 0;
  size_t count = said->rc == 1 ? keep_messages(d, said->root) : 0;
  d->is_over_full |= is_over_full;
  if (has_failed) d->whole_at = d->now + with_jitter(d, d->acks_pause_ms);
  if (has_failed) d->acks_pause_ms = longer(d, d->acks_pause_ms);
  if (said->rc < 0 && d->line != OPEN) report_fault(d, said->fault);
  if (!was_polling) return;
  if (said->rc == 1 && !d->has_polled) report(d, GATEPOST_IS_OPEN, "");
  d->has_polled = said->rc == 1;
  d->is_fetched = d->mode == GATEPOST_FETCH && said->rc == 1 && !d->is_over_full;
  d->line = IDLE;
  if (said->rc != 1 || (asked->waits && !count && d->now < asked->began_at + paced(d, SPIN_MS))) {
    pause_line(d);
  } else if (asked->waits || count > 0 || d->asleep_ms > 0) {
    d->pause_ms = paced(d, PAUSE_FIRST_MS);
  }
  if (said->rc == 1 && count == 0 && d->asleep_ms > 0 && !d->is_fetched) {
    d->line = PAUSED;
    d->pause_at = d->now + d->asleep_ms;
  }
}

static void whole_answered(gatepost_device *d, const answer *said) {
  d->whole_at = d->now + with_jitter(d, d->acks_pause_ms);
  if (said->rc == 1) take_whole(d, field(said->root, "data"));
  else d->acks_pause_ms = longer(d, d->acks_pause_ms);
}

static void settle_request(gatepost_device *d, request_kind kind, const answer *said) {
  request asked = d->requests[kind];
  d->requests[kind].number = 0;
  if (kind == REGISTER) registered(d, &asked, said);
  else if (kind == INBOX) inbox_answered(d, &asked, said);
  else if (kind == WHOLE) whole_answered(d, said);
  else if (said->rc == 1) settle_acks(d, asked.frame, 1);
  else acks_failed(d, asked.frame, said->rc == 0 && is_text(said->msg, "Unknown error"));
  if (kind == REGISTER || said->rc != 0 || !is_text(said->msg, TOKEN_ERROR)) return;
  token_refused(d, asked.token_version, said->root);
}

void gatepost_wait_max(gatepost_device *d, int seconds) {
  d->wait_max = seconds > 0 && seconds <= POLL_SECONDS_MAX ? seconds : 0;
}

void gatepost_answer(gatepost_device *d, uint32_t number, int status, const char *bytes,
                     size_t size) {
  answer said = read_answer(bytes, status > 0 ? size : 0);
  if (status == 404 && said.rc < 0) said.fault = "wrong_path";
  if (status >= 500) said.rc = -1;
  for (int kind = 0; kind < REQUESTS && number != 0; kind++) {
    if (d->requests[kind].number != number) continue;
    if (kind != ACK) d->poll_seconds = d->wait_max > 0 ? d->wait_max : POLL_SECONDS;
    settle_request(d, (request_kind)kind, &said);
  }
  d->wait_max = 0;
}

void gatepost_failed(gatepost_device *d, uint32_t number, gatepost_fault fault) {
  static const char *const WORDS[] = {"no_answer", "refused_port", "tls", "name"};
  answer said = {-1, {NULL, NULL}, {NULL, NULL}, WORDS[fault]};
  for (int kind = 0; kind < REQUESTS && number != 0; kind++) {
    if (d->requests[kind].number == number) settle_request(d, (request_kind)kind, &said);
  }
  if (number != 0 && number == d->socket) line_closed(d, 0, 1, "code 1006", said.fault);
}

void gatepost_socket_reason(gatepost_device *d, uint32_t number, const char *reason) {
  buffer out = buffer_on(d->closing, sizeof d->closing);
  if (number != 0 && number == d->socket) put(&out, reason);
}

void gatepost_socket_opened(gatepost_device *d, uint32_t number, int ping) {
  if (number == 0 || number != d->socket || d->line != OPENING) return;
  if (d->ping > 0 && ping >= PING_MIN && ping <= PING_MAX) d->ping = ping;
  d->line = OPEN;
  d->opened_at = d->heard_at = d->now;
  d->has_pinged = d->wants_inbox = d->was_malformed = 0;
  report(d, GATEPOST_IS_OPEN, "");
}

void gatepost_socket_heard(gatepost_device *d, uint32_t number) {
  if (number == 0 || number != d->socket) return;
  d->heard_at = d->now;
  d->has_pinged = 0;
}

void gatepost_socket_frame(gatepost_device *d, uint32_t number, const char *bytes, size_t size) {
  if (number == 0 || number != d->socket || d->line != OPEN) return;
  gatepost_socket_heard(d, number);
  answer said = read_answer(bytes, size);
  span data = field(said.root, "data");
  int is_end = said.rc == 0 && is_text(said.msg, TOKEN_ERROR);
  if (said.rc < 0) cut_socket(d, "no answer of Gatepost", NULL);
  else if (is_kind(data, '[')) {
    /* Later messages stand behind those that are fetched. */
    d->is_over_full |= d->is_refetching;
    keep_messages(d, said.root);
  }
  else if (is_end) token_refused(d, d->socket_token_version, said.root);
  else settle_frame(d, 1);
  if (said.rc == 0) d->was_malformed = 1;
}

void gatepost_socket_closed(gatepost_device *d, uint32_t number, int code, int status) {
  char detail[40];
  buffer out = buffer_on(detail, sizeof detail);
  if (number == 0 || number != d->socket) return;
  int is_refused = d->line == OPENING && status > 1;
  put(&out, is_refused ? "status " : "code ");
  put_number(&out, (uint64_t)(is_refused ? status : code > 0 ? code : 1006), "");
  const char *word = status == 404 ? "wrong_path" : status == 1 ? "no_answer" : NULL;
  line_closed(d, code, status, detail, d->line == OPENING ? word : NULL);
}

void gatepost_written(gatepost_device *d, int is_written) {
  if (!d->is_writing) return;
  d->is_writing = 0;
  if (is_written) return;
  d->is_dirty = 1;
  d->write_at = d->now + paced(d, PAUSE_FIRST_MS);
}

void gatepost_pushed(gatepost_device *d, const char *json, size_t size, int was_shown) {
  span push = read_json(json, size), message = field(push, "message");
  int64_t id = number_in(field(push, "id"));
  if (id < 1 || d->has_ended) return;
  if (was_shown && is_text(field(push, "kind"), "notification")) {
    if (seen_of(d, id) == NULL) owe(d, remember(d, id, RECEIVED), RECEIVED);
    return;
  }
  pack_input(d);
  size_t room = d->input_size - d->input_to;
  /* At FCM the message is a text that holds JSON. */
  if (is_kind(message, '"') && room > sizeof size + 1) {
    buffer out = buffer_on(d->input + d->input_to + sizeof size, room - sizeof size);
    put_decoded(&out, message);
    message = read_json(out.at, out.is_full ? 0 : out.used);
  }
  if (is_kind(field(message, "payload"), '{') && number_in(field(message, "id")) == id) {
    keep_message(d, message);
  } else if (d->line != OPEN) {
    d->wants_inbox = 1;
  }
}

void gatepost_opened(gatepost_device *d, int64_t id) {
  if (id > 0 && id <= ID_MAX) owe(d, remember(d, id, OPENED), OPENED);
}

/* Copies a JSON object; returns 0 if it is none, or too long. */
static int copy_object(char *out, size_t size, const char *json) {
  span object = read_json(json, strlen(json));
  if (!is_kind(object, '{') || (size_t)(object.end - object.at) >= size) return 0;
  memcpy(out, object.at, (size_t)(object.end - object.at));
  out[object.end - object.at] = '\0';
  return 1;
}

int gatepost_set_push(gatepost_device *d, const char *push) {
  if (push == NULL) *d->push = '\0';
  else if (!copy_object(d->push, sizeof d->push, push)) return 0;
  d->wants_register = 1;
  d->register_at = d->now;
  return 1;
}

void gatepost_time(gatepost_device *d, uint64_t now_ms) {
  if (now_ms > d->clock) d->now += now_ms - d->clock;
  d->clock = now_ms;
}

void gatepost_close(gatepost_device *d) {
  end_with(d, GATEPOST_IS_CLOSED, "");
}

size_t gatepost_headers_for(const char *hwid, const char *registration, char *text, size_t size) {
  static const char *const NAMES[][2] = {{"x-device-os", "os"},
                                         {"x-ver-os", "os_version"},
                                         {"x-device-model", "device_name"},
                                         {"x-app-version", "app_version"}};
  span fields = read_json(registration, strlen(registration));
  if (size == 0 || !is_visible(hwid, strlen(hwid))) return 0;
  buffer out = buffer_on(text, size);
  put_all(&out, "x-hwid: ", hwid, "\r\nx-device-protocol: 1\r\n", END);
  for (size_t n = 0; n < sizeof NAMES / sizeof *NAMES; n++) {
    char value[DETAIL_SIZE];
    buffer decoded = buffer_on(value, sizeof value);
    put_decoded(&decoded, field(fields, NAMES[n][1]));
    /* Nothing in a value ends its line. */
    for (char *at = value; *at != '\0'; at++) {
      if ((unsigned char)*at < 0x20 || *at == 0x7f) *at = ' ';
    }
    if (*value != '\0') put_all(&out, NAMES[n][0], ": ", value, "\r\n", END);
  }
  return out.is_full ? 0 : out.used;
}

size_t gatepost_headers(const gatepost_device *d, char *text, size_t size) {
  return gatepost_headers_for(d->hwid, d->registration, text, size);
}

/* Copies a path of calls: segments of letters, digits and `._~-`, none of them `.` or `..`. Returns
 * 0 if it is none, so that it leads to no other host. */
static int copy_base(char *out, const char *path) {
  static const char SIGNS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._~-";
  size_t size = strlen(path), at = 0;
  if (size == 0 || size >= BASE_SIZE) return 0;
  while (at < size) {
    size_t segment = path[at] == '/' ? strspn(path + at + 1, SIGNS) : 0;
    if (segment == 0 || strspn(path + at + 1, ".") == segment) return 0;
    at += 1 + segment;
  }
  memcpy(out, path, size + 1);
  return 1;
}

static int has_scheme(const char *url) {
  return strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0;
}

int gatepost_discover(gatepost_server *out, const char *address, const char *path,
                      const char *registration) {
  const char *host = has_scheme(address) ? strstr(address, "://") + 3 : "";
  size_t size = strcspn(host, "/?#"), head = (size_t)(host - address) + size;
  const char *fields = registration == NULL ? "{}" : registration;
  span object = read_json(fields, strlen(fields));
  char own[REGISTRATION_SIZE];
  if (path == NULL || size == 0 || head >= sizeof out->url || !is_kind(object, '{')) return 0;
  if (memchr(host, '@', size) != NULL || !copy_base(out->base, path)) return 0;
  memcpy(out->url, address, head);
  out->url[head] = '\0';
  buffer asked = buffer_on(own, sizeof own);
  buffer all = buffer_on(out->registration, sizeof out->registration);
  if (host[size] != '/') put(&asked, "/");
  put_bytes(&asked, host + size, strcspn(host + size, "#"));
  put(&all, "{\"subscription_url\":");
  put_string(&all, own);
  const char *first = after_space(object.at + 1, object.end);
  put(&all, *first == '}' ? "" : ",");
  put_bytes(&all, first, (size_t)(object.end - first));
  return !asked.is_full && !all.is_full;
}

/* Orders. */

static uint64_t silence(const gatepost_device *d) {
  return paced(d, d->ping > 0 ? (2 * (uint64_t)d->ping + 10) * 1000 : SILENCE_MS);
}

/* Ends what took too long. */
static void expire(gatepost_device *d) {
  static const answer NONE = {-1, {NULL, NULL}, {NULL, NULL}, "timeout"};
  for (int kind = 0; kind < REQUESTS; kind++) {
    request *one = &d->requests[kind];
    if (one->number == 0 || d->now < one->deadline) continue;
    one->cancel = one->number;
    settle_request(d, (request_kind)kind, &NONE);
  }
  if (d->line == OPENING && d->now >= d->opening_until) cut_socket(d, "", "timeout");
  if (d->line != OPEN) return;
  if (d->now - d->heard_at >= silence(d)) cut_socket(d, "silence", NULL);
  else if (d->frames_count > 0 && d->now >= d->acks_until) cut_socket(d, "no confirmation", NULL);
}

static int give(gatepost_order *order, gatepost_kind kind, uint32_t *number) {
  if (*number == 0) return 0;
  order->kind = kind;
  order->number = *number;
  *number = 0;
  return 1;
}

static int give_report(gatepost_device *d, gatepost_order *order) {
  if (d->reports_count == 0) return 0;
  d->given = d->reports[0];
  order->kind = GATEPOST_STATE;
  order->state = d->given.state;
  order->reason = d->given.reason;
  order->detail = d->given.detail;
  order->text = d->given.text;
  order->size = strlen(d->given.text);
  order->limit = d->given.limit;
  order->free_url = d->given.free_url;
  drop_report(d);
  return 1;
}

static int give_state(gatepost_device *d, gatepost_order *order) {
  if (!d->is_dirty || d->is_handling || d->is_writing || d->now < d->write_at) return 0;
  d->is_dirty = 0;
  d->is_writing = 1;
  order->kind = GATEPOST_WRITE;
  order->text = d->state_text;
  order->size = write_state(d, 0, 0);
  return 1;
}

static int give_ping(gatepost_device *d, gatepost_order *order) {
  uint32_t number = d->socket;
  if (d->line != OPEN || !d->hides_pings || d->has_pinged) return 0;
  if (d->now - d->heard_at < silence(d) / 2) return 0;
  d->has_pinged = 1;
  return give(order, GATEPOST_PING, &number);
}

static void sooner(const gatepost_device *d, uint64_t *wait, uint64_t at) {
  /* An order that was due before waits for an event, not for the time. */
  if (at > d->now && at - d->now < *wait) *wait = at - d->now;
}

static uint64_t time_to_wait(const gatepost_device *d) {
  uint64_t wait = IDLE_MS;
  for (int kind = 0; kind < REQUESTS; kind++) {
    if (d->requests[kind].number != 0) sooner(d, &wait, d->requests[kind].deadline);
  }
  if (d->stub_id > 0 || d->is_over_full) sooner(d, &wait, d->whole_at);
  if (d->line == PAUSED) sooner(d, &wait, d->pause_at);
  if (d->line == OPENING) sooner(d, &wait, d->opening_until);
  if (d->line == OPEN) {
    sooner(d, &wait, d->heard_at + silence(d));
    if (d->hides_pings) sooner(d, &wait, d->heard_at + silence(d) / 2);
    if (d->frames_count > 0) sooner(d, &wait, d->acks_until);
  }
  if (d->is_dirty) sooner(d, &wait, d->write_at);
  if (d->wants_register) sooner(d, &wait, d->register_at);
  if (count_owed(d, 1) > 0) {
    sooner(d, &wait, d->acks_at);
    sooner(d, &wait, d->acks_sent_at + ACKS_TOGETHER_MS);
  }
  return wait;
}

/* Nothing goes out before the state that it rests on is written. */
static int give_work(gatepost_device *d, gatepost_order *order) {
  if (d->is_dirty || d->is_writing) return 0;
  return connect_line(d, order) || fetch_whole(d, order) || fetch_inbox(d, order) ||
         acknowledge(d, order);
}

gatepost_kind gatepost_next(gatepost_device *d, gatepost_order *order) {
  memset(order, 0, sizeof *order);
  order->action = order->title = order->html = order->plain = order->link = order->detail = "";
  order->reason = order->free_url = "";
  order->state = d->ending;
  if (d->was_end_reported) return order->kind = GATEPOST_ENDED;
  if (!d->has_ended) expire(d);
  for (int kind = 0; kind < REQUESTS; kind++) {
    if (give(order, GATEPOST_CANCEL, &d->requests[kind].cancel)) return order->kind;
  }
  if (give(order, GATEPOST_CUT, &d->cut)) return order->kind;
  /* A user who hears of an end may start the device again: its token is forgotten by then. */
  if (give_state(d, order) || give_report(d, order)) return order->kind;
  if (d->has_ended) {
    d->was_end_reported = 1;
    return order->kind = GATEPOST_ENDED;
  }
  if (!d->is_handling && !d->is_writing && !d->is_dirty) {
    /* Repeats alone change the state without a message for the app. */
    if (give_message(d, order) || give_state(d, order)) return order->kind;
  }
  if (give_ping(d, order) || give_work(d, order)) return order->kind;
  if (d->is_fetched && !d->is_handling && !d->is_dirty && !d->is_writing && count_owed(d, 1) == 0 &&
      d->input_from == d->input_to && !d->wants_inbox) {
    gatepost_close(d);
    return gatepost_next(d, order);
  }
  order->kind = GATEPOST_WAIT;
  order->wait_ms = time_to_wait(d);
  return order->kind;
}

/* Making a device. */

size_t gatepost_size(size_t input_size) {
  return sizeof(gatepost_device) + ALIGNMENT + input_size;
}

static int is_within(int value, int least, int most) {
  return value == 0 || (value >= least && value <= most);
}

/* Reads options into a device; tells which does not fit; NULL: all do. */
static const char *read_options(gatepost_device *d, const gatepost_options *options) {
  const char *url = options->url == NULL ? "" : options->url;
  const char *registration = options->registration == NULL ? "{}" : options->registration;
  buffer locale = buffer_on(d->locale, sizeof d->locale);
  size_t size = strlen(url);
  while (size > 0 && url[size - 1] == '/') size--;
  if (!has_scheme(url)) return "url: no address that begins with https:// or http://";
  if (size < 8 || size >= sizeof d->url || !is_visible(url, size)) return "url: no address";
  if (url[4] == 's' && !options->has_tls) return "url: https:// needs TLS of the app: has_tls";
  memcpy(d->url, url, size);
  const char *base = options->base == NULL ? "/device" : options->base;
  if (!copy_base(d->base, base)) return "base: no path";
  /* There an unknown token has no answer that says so: each start registers. */
  d->wants_register = options->base != NULL;
  if (!copy_object(d->registration, sizeof d->registration, registration)) {
    return "registration: no object of JSON, or longer than 3,071 bytes";
  }
  if (options->push != NULL && !gatepost_set_push(d, options->push)) {
    return "push: no object of JSON, or longer than 4,607 bytes";
  }
  if (options->locale != NULL) put(&locale, options->locale);
  tidy_tag(d->locale);
  size_t tag = strlen(d->locale);
  if (tag > 0 && !is_visible(d->locale, tag)) return "locale: no language";
  if (!is_within(options->ping, PING_MIN, PING_MAX)) return "ping: not 15 to 600 seconds";
  if (!is_within(options->asleep, PING_MIN, ASLEEP_MAX)) return "asleep: not 15 to 86,400 seconds";
  if (!is_within(options->frame_max, FRAME_LEAST, FRAME_MOST)) {
    return "frame_max: not 1,024 to 65,536 bytes";
  }
  if (!(options->pace >= 0 && options->pace <= 1000)) return "pace: not 0 to 1,000";
  size = options->hwid == NULL ? 0 : strlen(options->hwid);
  if (size >= sizeof d->hwid) return "hwid: longer than 128 characters";
  if (size > 0) memcpy(d->hwid, options->hwid, size);
  int is_good = options->hwid == NULL || is_visible(d->hwid, size);
  return is_good ? NULL : "hwid: not of visible characters";
}

/* Puts a device into memory, at an address that fits; NULL: there is too little. */
static gatepost_device *place(void *memory, size_t size) {
  size_t skip = (ALIGNMENT - (uintptr_t)memory % ALIGNMENT) % ALIGNMENT;
  if (memory == NULL || size < gatepost_size(1024)) return NULL;
  gatepost_device *d = (gatepost_device *)(void *)((char *)memory + skip);
  memset(d, 0, sizeof *d);
  return d;
}

const char *gatepost_misfit(void *memory, size_t size, const gatepost_options *options) {
  gatepost_device *d = place(memory, size);
  return d == NULL ? "memory: less than gatepost_size(1024) bytes" : read_options(d, options);
}

gatepost_device *gatepost_new(void *memory, size_t size, const gatepost_options *options) {
  gatepost_device *d = place(memory, size);
  if (d == NULL || options == NULL || read_options(d, options) != NULL) return NULL;
  d->input = (char *)(d + 1);
  d->input_size = (size_t)((char *)memory + size - d->input);
  d->mode = options->mode;
  d->ping = options->ping;
  d->hides_pings = options->hides_pings;
  d->pace = options->pace == 0 ? 1 : options->pace;
  d->asleep_ms = paced(d, (uint64_t)options->asleep * 1000);
  d->frame_max = options->frame_max;
  d->log = options->log;
  d->log_context = options->log_context;
  d->clock = options->now_ms;
  d->now = ACKS_TOGETHER_LAST_MS;
  d->pause_ms = d->acks_pause_ms = paced(d, PAUSE_FIRST_MS);
  memcpy(&d->random, options->random + 16, sizeof d->random);
  d->random |= 1;
  /* A HWID that is drawn is kept before anything else is done. */
  d->is_dirty = options->state == NULL || !read_state(d, options->state, options->state_size);
  for (size_t n = 0; d->is_dirty && n < 32 && options->hwid == NULL; n++) {
    d->hwid[n] = "0123456789abcdef"[options->random[n / 2] >> (n % 2 == 0 ? 4 : 0) & 15];
  }
  return d;
}
