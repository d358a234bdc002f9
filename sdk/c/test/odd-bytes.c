/*
 * Feeds the kit what no server should send: broken JSON, odd UTF-8, answers cut off and mixed up,
 * events at the wrong time, states that were damaged. Built with sanitizers; the seed, and how many
 * rounds, are its arguments.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../gatepost.h"

static const char *const PIECES[] = {
    "{\"rc\":1,\"msg\":\"Ok\",\"device_token\":\"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQ\"}",
    "{\"rc\":1,\"msg\":\"Ok\"}",
    "{\"rc\":0,\"msg\":\"Unknown error\",\"detail\":\"no\"}",
    "{\"rc\":0,\"msg\":\"Device token error\"}",
    "{\"rc\":0,\"msg\":\"Too many requests\"}",
    "{\"rc\":1,\"msg\":\"Ok\",\"data\":[{\"id\":7,\"notification_type\":10,\"payload\":{\"title\":\"T\","
    "\"body\":\"<p>a &amp; b</p><br>\\u00e9\\ud83d\\ude00&#8364;&#x41;<\",\"locales\":{\"RU\":{\"title\":"
    "\"\xd0\x9f\"},\"pt_BR\":{\"body\":\"x\"},\"cn\":1}}},{\"id\":\"8\",\"notification_type\":20,"
    "\"payload\":{\"action_type\":\"import-data\",\"input-data\":\"aGk=\"}},{\"id\":9,"
    "\"notification_type\":20,\"payload\":{\"action_type\":\"fly\"}},{\"id\":10,\"notification_type\":99,"
    "\"payload\":null},[],{},{\"id\":-1},{\"id\":1e3},{\"id\":123456789012345678}]}",
    "{\"id\":\"11\",\"kind\":\"notification\",\"title\":\"t\",\"message\":\"{\\\"id\\\":11,"
    "\\\"notification_type\\\":10,\\\"payload\\\":{\\\"title\\\":\\\"p\\\"}}\"}",
    "{\"id\":12,\"kind\":\"command\",\"message\":{\"id\":12,\"notification_type\":20,\"payload\":"
    "{\"action_type\":\"update-subscription\"}}}",
    "{\"version\":1,\"hwid\":\"abc\",\"token\":\"t\",\"seen\":[[1,0,1,\"\"],[2,3,8,\"why\"],[3,9,0,\"\"],"
    "[4],5]}",
    "<html>502</html>",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
    "",
    "null",
    "{\"a\":\"\\ud800\\u0000\\udc00\",\"a\":\"\xf4\x8f\xbf\xbf\"}"};
enum { PIECES_COUNT = sizeof PIECES / sizeof *PIECES };

static uint64_t drawn;

static unsigned draw(unsigned below) {
  drawn = drawn * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(drawn >> 33) % below;
}

/* Writes odd bytes, in memory of just their size, so that a read behind them is noticed. */
static char *odd(size_t *size) {
  static const char BYTES[] = "\"\\{}[]:,<>&;u0ei-.\x80\xc3\xed\xf4\xff\n";
  char *out;
  const char *piece = PIECES[draw(PIECES_COUNT)];
  *size = strlen(piece);
  out = malloc(*size + 1);
  assert(out != NULL);
  memcpy(out, piece, *size);
  for (unsigned n = draw(4) * draw(3); n > 0 && *size > 0; n--) {
    unsigned at = draw((unsigned)*size), most = (unsigned)*size - at;
    switch (draw(4)) {
      case 0: out[at] = BYTES[draw(sizeof BYTES)]; break;
      case 1: out[at] = (char)draw(256); break;
      case 2: *size = at; break;
      default: memmove(out + at, out + draw((unsigned)*size - most + 1), most / 2); break;
    }
  }
  return realloc(out, *size == 0 ? 1 : *size);
}

static uint32_t last_request, last_socket;

/* Obeys nothing, but looks at each order. Some answers are left out. */
static void take_orders(gatepost_device *device, char *kept, size_t *kept_size) {
  gatepost_order order;
  for (int count = 0;; count++) {
    gatepost_kind kind = gatepost_next(device, &order);
    assert(count < 5000);
    if (kind == GATEPOST_WAIT) assert(order.wait_ms > 0);
    if (kind == GATEPOST_WAIT || kind == GATEPOST_ENDED) return;
    if (order.text != NULL) assert(strlen(order.text) == order.size);
    if (kind == GATEPOST_REQUEST) last_request = order.number;
    if (kind == GATEPOST_OPEN) last_socket = order.number;
    if (kind == GATEPOST_WRITE || kind == GATEPOST_MESSAGE) {
      assert(order.size < GATEPOST_STATE_MAX);
      memcpy(kept, order.text, order.size);
      *kept_size = order.size;
    }
    if (kind == GATEPOST_WRITE) gatepost_written(device, draw(4) > 0);
    if (kind == GATEPOST_MESSAGE) {
      const char *value;
      size_t size;
      assert(order.id > 0 && (order.type == 10 || order.type == 20));
      assert(strlen(order.plain) <= strlen(order.html));
      assert(gatepost_field(order.message, order.message_size, "id", &value, &size));
      const char *detail = draw(2) ? "it\nfell \xff over \"" : NULL;
      if (draw(8) > 0) gatepost_handled(device, (gatepost_handling)draw(6), detail);
    }
  }
}

/* More messages than a small device takes at once, and one that it never takes. */
static void big_frame(gatepost_device *device) {
  static char frame[8000], text[3000];
  size_t used = (size_t)sprintf(frame, "{\"rc\":1,\"msg\":\"Ok\",\"data\":[");
  memset(text, 'x', sizeof text);
  for (int n = 0; n < 4; n++) {
    static const char FORM[] = "%s{\"id\":%u,\"notification_type\":10,\"payload\":{\"body\":\"%.*s\"}}";
    int most = n == 3 ? 2500 : 450;
    used += (size_t)sprintf(frame + used, FORM, n > 0 ? "," : "", 20 + draw(2000), most, text);
  }
  used += (size_t)sprintf(frame + used, "]}");
  gatepost_socket_frame(device, last_socket, frame, used);
}

static void event(gatepost_device *device, uint64_t *now) {
  size_t size;
  char *bytes = odd(&size);
  uint32_t other = draw(50);
  *now += draw(3) == 0 ? draw(40000) : draw(30);
  if (draw(100) == 0) *now -= *now / 2;
  gatepost_time(device, *now);
  switch (draw(12)) {
    case 0:
    case 1:
    case 2:
      if (draw(2)) gatepost_wait_max(device, (int)draw(400) - 50);
      gatepost_answer(device, draw(9) ? last_request : other, draw(6) ? 200 : 503, bytes, size);
      break;
    case 3:
      gatepost_socket_opened(device, draw(9) ? last_socket : other, (int)draw(700) - 50);
      if (draw(4) == 0) big_frame(device);
      break;
    case 4:
    case 5:
      gatepost_socket_frame(device, draw(9) ? last_socket : other, bytes, size);
      break;
    case 6:
      if (draw(3) > 0) break;
      gatepost_socket_closed(device, last_socket, (int)draw(5000), (int)draw(600));
      break;
    case 7:
      gatepost_pushed(device, bytes, size, (int)draw(2));
      break;
    case 8:
      gatepost_opened(device, (int64_t)draw(20) - 2);
      break;
    case 9:
      gatepost_handled(device, (gatepost_handling)draw(6), NULL);
      break;
    case 10:
      if (draw(9) > 0) break;
      gatepost_set_push(device, draw(2) ? "{\"gateway\":\"fcm\",\"token\":\"t\"}" : NULL);
      break;
    default:
      gatepost_socket_heard(device, last_socket);
  }
  free(bytes);
}

static void odd_round(unsigned events) {
  static char kept[GATEPOST_STATE_MAX];
  static size_t kept_size;
  size_t size = gatepost_size(draw(4) ? 20000 : 1024 + draw(300)), state_size;
  char *memory = malloc(size), *state = odd(&state_size), headers[512];
  uint64_t now = draw(1000000);
  gatepost_options options;
  gatepost_device *device;
  memset(&options, 0, sizeof options);
  options.url = "http://127.0.0.1:1/";
  options.registration = draw(2) ? "{ \"os\":\"a\\nb\",\"device_name\":\"P\"}" : "{}";
  options.state = draw(2) ? state : kept;
  options.state_size = options.state == kept ? kept_size : state_size;
  options.mode = (gatepost_mode)draw(3);
  options.hides_pings = (int)draw(2);
  options.locale = draw(2) ? "ru-RU" : "PT_br";
  options.now_ms = now;
  for (size_t n = 0; n < sizeof options.random; n++) options.random[n] = (unsigned char)draw(256);
  device = gatepost_new(memory, size, &options);
  assert(device != NULL && gatepost_headers(device, headers, sizeof headers) > 0);
  assert(strstr(headers, "\n\n") == NULL && strstr(headers, "a\nb") == NULL);
  take_orders(device, kept, &kept_size);
  while (events-- > 0) {
    event(device, &now);
    take_orders(device, kept, &kept_size);
  }
  gatepost_close(device);
  take_orders(device, kept, &kept_size);
  free(memory);
  free(state);
}

static void same(const char *json, const char *text) {
  char out[64];
  gatepost_decode(json, strlen(json), out, sizeof out);
  if (strcmp(out, text) != 0) fprintf(stderr, "%s is %s, not %s\n", json, out, text);
  assert(strcmp(out, text) == 0);
}

/* Texts that are read one way alone. */
static void certain(void) {
  static const char *const BROKEN[] = {
      "\"a", "\"\x01\"", "\"\\x\"", "\"\\u12\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\"a\"b",
      "01",  "1.",       "1e",      "-",         "[1,]",         "{\"a\"}",          "{\"a\":1,}",
      "tru", "{a:1}"};
  char small[4];
  same("\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80");
  same(" \"\\u00e9\\/\\\"\\n\" ", "\xc3\xa9/\"\n");
  same("\"\\ud83d\"", "\xef\xbf\xbd");
  same("17", "");
  assert(gatepost_decode("\"a\xd0\x9f\xd0\x9f\"", 7, small, sizeof small) == 3);
  /* Values nested deeper than any message do not use up the stack. */
  static char deep[4000000];
  memset(deep, '[', sizeof deep - 1);
  assert(gatepost_decode(deep, sizeof deep - 1, small, sizeof small) == 0);
  for (size_t n = 0; n < sizeof BROKEN / sizeof *BROKEN; n++) {
    char json[32], out[8];
    const char *value;
    size_t size;
    snprintf(json, sizeof json, "{\"x\":%s}", BROKEN[n]);
    assert(!gatepost_field(json, strlen(json), "x", &value, &size));
    assert(gatepost_decode(BROKEN[n], strlen(BROKEN[n]), out, sizeof out) == 0);
  }
}

int main(int count, char **arguments) {
  unsigned rounds = count > 2 ? (unsigned)atoi(arguments[2]) : 1000;
  certain();
  for (unsigned n = 0; n < rounds; n++) {
    drawn = (count > 1 ? (uint64_t)atoll(arguments[1]) : 1) * 1000003 + n;
    odd_round(150);
  }
  printf("%u rounds\n", rounds);
  return 0;
}
