/*
 * Plays a server and an app to the kit event by event, and compares each order: what the cases of
 * `gatepost device check` cannot see from the line.
 */
#undef NDEBUG
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../gatepost.h"

#define OK "{\"rc\":1,\"msg\":\"Ok\"}"
#define TOKEN(t) "{\"rc\":1,\"msg\":\"Ok\",\"device_token\":\"" t "\"}"
#define MESSAGE(id) "{\"id\":" id ",\"notification_type\":10,\"payload\":{\"title\":\"t\"}}"
#define MESSAGES(list) "{\"rc\":1,\"msg\":\"Ok\",\"data\":[" list "]}"

static gatepost_device *device;
static gatepost_order order;
static char memory[300000];
static uint64_t now;

static gatepost_options options_of(gatepost_mode mode) {
  gatepost_options options;
  memset(&options, 7, sizeof options);
  options.url = "https://push.example.com/";
  options.registration = "{\"os\":\"android\"}";
  options.base = NULL;
  options.log = NULL;
  options.asleep = options.frame_max = 0;
  options.push = options.hwid = options.locale = options.state = NULL;
  options.mode = mode;
  options.ping = options.hides_pings = 0;
  options.pace = 1;
  options.now_ms = now = 1000;
  return options;
}

static void passes(uint64_t ms) {
  gatepost_time(device, now += ms);
}

/* The next order must be of this kind; a state is reported between. */
#define expect(kind) expect_at(kind, __LINE__)
static void expect_at(gatepost_kind kind, int line) {
  gatepost_kind next = gatepost_next(device, &order);
  while (next == GATEPOST_STATE && kind != GATEPOST_STATE) next = gatepost_next(device, &order);
  if (next != kind) fprintf(stderr, "%d: order %d, not %d\n", line, (int)next, (int)kind);
  assert(next == kind);
}

#define expect_request(url, authorization) expect_request_at(url, authorization, __LINE__)
static void expect_request_at(const char *url, const char *authorization, int line) {
  expect_at(GATEPOST_REQUEST, line);
  assert(strcmp(order.url, url) == 0);
  assert(authorization == NULL ? order.authorization == NULL
                               : strcmp(order.authorization, authorization) == 0);
}

#define expect_write() expect_write_at(__LINE__)
static void expect_write_at(int line) {
  expect_at(GATEPOST_WRITE, line);
  gatepost_written(device, 1);
}

static void says(const char *json) {
  gatepost_answer(device, order.number, 200, json, strlen(json));
}

/* A device that has registered: its HWID and its token were written before it went on. */
static void begin(const gatepost_options *options) {
  device = gatepost_new(memory, sizeof memory, options);
  assert(device != NULL);
  expect_write();
  assert(strstr(order.text, "0707070707070707") != NULL);
  expect_request("https://push.example.com/device/register", NULL);
  says(TOKEN("first"));
  expect_write();
  assert(strstr(order.text, "\"first\"") != NULL);
}

static uint32_t open_stream(const char *authorization) {
  expect(GATEPOST_OPEN);
  assert(strcmp(order.url, "wss://push.example.com/device/stream") == 0);
  assert(strcmp(order.authorization, authorization) == 0);
  gatepost_socket_opened(device, order.number, 0);
  return order.number;
}

static void frame(uint32_t socket, const char *json) {
  gatepost_socket_frame(device, socket, json, strlen(json));
}

static void push(const char *json, int was_shown) {
  gatepost_pushed(device, json, strlen(json), was_shown);
}

static void a_library_that_hides_pings_sends_its_own(void) {
  gatepost_options options = options_of(GATEPOST_STREAM);
  options.hides_pings = 1;
  begin(&options);
  uint32_t socket = open_stream("Bearer first");
  expect(GATEPOST_WAIT);
  passes(order.wait_ms);
  expect(GATEPOST_PING);
  gatepost_socket_heard(device, socket);
  passes(16000);
  expect(GATEPOST_PING);
  expect(GATEPOST_WAIT);
  passes(13000);
  /* A clock that is set back neither ends the stream nor keeps it. */
  gatepost_time(device, now -= 900);
  expect(GATEPOST_WAIT);
  passes(1000);
  expect(GATEPOST_CUT);
  assert(order.number == socket);
  gatepost_socket_opened(device, socket, 0);
  expect(GATEPOST_WAIT);
  assert(order.wait_ms >= 250 && order.wait_ms <= 751);
}

static void silence_is_judged_by_the_pings_that_the_server_names(void) {
  gatepost_options options = options_of(GATEPOST_STREAM);
  options.ping = 600;
  begin(&options);
  expect(GATEPOST_OPEN);
  assert(strcmp(order.url, "wss://push.example.com/device/stream?ping=600") == 0);
  gatepost_socket_opened(device, order.number, 60);
  expect(GATEPOST_STATE);
  expect(GATEPOST_WAIT);
  passes(129000);
  expect(GATEPOST_WAIT);
  passes(1000);
  expect(GATEPOST_CUT);
}

static void a_state_that_is_kept_is_not_written_again(void) {
  gatepost_options options = options_of(GATEPOST_STREAM);
  begin(&options);
  uint32_t socket = open_stream("Bearer first");
  frame(socket, MESSAGES(MESSAGE("5") "," MESSAGE("6")));
  expect(GATEPOST_MESSAGE);
  assert(order.id == 5 && strcmp(order.title, "t") == 0 && strstr(order.text, "[5,0,1,") != NULL);
  expect(GATEPOST_WAIT);
  gatepost_handled(device, GATEPOST_KEPT, NULL);
  expect(GATEPOST_MESSAGE);
  assert(order.id == 6);
  gatepost_handled(device, GATEPOST_FAILED, "no\nroom");
  /* Nothing is sent on a state that could not be written. */
  expect(GATEPOST_WRITE);
  gatepost_written(device, 0);
  passes(499);
  expect(GATEPOST_WAIT);
  passes(order.wait_ms);
  expect_write();
  expect(GATEPOST_SEND);
  assert(strcmp(order.text, "{\"items\":[{\"id\":5,\"state\":\"received\"},"
                            "{\"id\":6,\"state\":\"failed\",\"detail\":\"no room\"}]}") == 0);
  frame(socket, OK);
  expect_write();
  expect(GATEPOST_WAIT);
  gatepost_close(device);
  expect(GATEPOST_ENDED);
}

static void what_a_push_brings_is_fetched_in_the_background(void) {
  gatepost_options options = options_of(GATEPOST_FETCH);
  begin(&options);
  expect_request("https://push.example.com/device/inbox", "Bearer first");
  says(MESSAGES(MESSAGE("5")));
  expect(GATEPOST_STATE);
  expect(GATEPOST_MESSAGE);
  gatepost_handled(device, GATEPOST_USUAL, NULL);
  expect_write();
  expect_request("https://push.example.com/device/ack", "Bearer first");
  says(OK);
  expect_write();
  expect(GATEPOST_ENDED);
  assert(order.state == GATEPOST_IS_CLOSED);
}

static void a_token_that_was_renewed_is_no_death(void) {
  gatepost_options options = options_of(GATEPOST_STREAM);
  begin(&options);
  uint32_t socket = open_stream("Bearer first");
  assert(!gatepost_set_push(device, "no") && gatepost_set_push(device, "{\"gateway\":\"fcm\"}"));
  expect_request("https://push.example.com/device/register", "Bearer first");
  assert(strstr(order.text, "\"push\":{\"gateway\":\"fcm\"},\"os\"") != NULL);
  says(TOKEN("second"));
  expect_write();
  gatepost_socket_closed(device, socket, 4001, 0);
  expect(GATEPOST_WAIT);
  passes(order.wait_ms);
  open_stream("Bearer second");
  /* Nor is one that dies later: it is the first. */
  gatepost_socket_closed(device, order.number, 4001, 0);
  expect_write();
  expect(GATEPOST_WAIT);
  passes(order.wait_ms);
  expect_request("https://push.example.com/device/register", NULL);
}

static void what_the_server_never_takes_is_dropped(void) {
  gatepost_options options = options_of(GATEPOST_POLL);
  int count = 0;
  begin(&options);
  expect_request("https://push.example.com/device/inbox", "Bearer first");
  says(MESSAGES(""));
  expect_request("https://push.example.com/device/inbox?wait=60", "Bearer first");
  gatepost_opened(device, 9);
  expect_write();
  for (int n = 0; n < 1000; n++) {
    gatepost_kind kind = gatepost_next(device, &order);
    if (kind == GATEPOST_WRITE) break;
    if (kind == GATEPOST_WAIT) passes(1000);
    if (kind != GATEPOST_REQUEST || strcmp(order.method, "POST") != 0) continue;
    says("{\"rc\":0,\"msg\":\"Unknown error\"}");
    count++;
  }
  assert(count == 10);
}

static void a_poll_waits_for_as_long_as_the_server_names(void) {
  gatepost_options options = options_of(GATEPOST_POLL);
  begin(&options);
  expect_request("https://push.example.com/device/inbox", "Bearer first");
  gatepost_wait_max(device, 240);
  says(MESSAGES(""));
  expect_request("https://push.example.com/device/inbox?wait=240", "Bearer first");
  passes(240000);
  gatepost_wait_max(device, 30);
  says(MESSAGES(""));
  expect_request("https://push.example.com/device/inbox?wait=30", "Bearer first");
  passes(30000);
  gatepost_wait_max(device, 301);
  says(MESSAGES(""));
  expect_request("https://push.example.com/device/inbox?wait=60", "Bearer first");
  passes(60000);
  gatepost_wait_max(device, 300);
  says(MESSAGES(""));
  expect_request("https://push.example.com/device/inbox?wait=300", "Bearer first");
  passes(300000);
  /* An older server names none. */
  says(MESSAGES(""));
  expect_request("https://push.example.com/device/inbox?wait=60", "Bearer first");
}

static void a_poll_that_is_answered_at_once_is_no_circle(void) {
  gatepost_options options = options_of(GATEPOST_POLL);
  begin(&options);
  expect_request("https://push.example.com/device/inbox", "Bearer first");
  says(MESSAGES(""));
  expect_request("https://push.example.com/device/inbox?wait=60", "Bearer first");
  says(MESSAGES(""));
  expect(GATEPOST_WAIT);
  passes(order.wait_ms);
  expect_request("https://push.example.com/device/inbox?wait=60", "Bearer first");
  passes(60000);
  says(MESSAGES(""));
  expect_request("https://push.example.com/device/inbox?wait=60", "Bearer first");
  /* A request without an answer is dropped. */
  passes(90000);
  expect(GATEPOST_CANCEL);
}

static void what_does_not_fit_comes_in_several_answers(void) {
  static char json[150000], title[100001];
  gatepost_options options = options_of(GATEPOST_STREAM);
  begin(&options);
  uint32_t socket = open_stream("Bearer first");
  memset(title, 'x', sizeof title - 1);
  snprintf(json, sizeof json, MESSAGES(MESSAGE("1") ",{\"id\":2,\"title\":\"%s\"}"), title);
  frame(socket, json);
  expect(GATEPOST_MESSAGE);
  /* The second waits in the input; a third has no place beside it. */
  snprintf(json, sizeof json, MESSAGES("{\"id\":3,\"title\":\"%s\"}"), title);
  frame(socket, json);
  gatepost_handled(device, GATEPOST_USUAL, NULL);
  expect_write();
  expect_write(); /* the second has no type that is known: it failed */
  expect(GATEPOST_SEND);
  frame(socket, OK);
  expect_write();
  expect_request("https://push.example.com/device/inbox", "Bearer first");
}

static void what_comes_meanwhile_stands_behind_what_is_fetched(void) {
  static char json[200000], title[80001];
  gatepost_options options = options_of(GATEPOST_STREAM);
  begin(&options);
  uint32_t socket = open_stream("Bearer first");
  memset(title, 'x', sizeof title - 1);
  snprintf(json, sizeof json, MESSAGES("{\"id\":1,\"a\":\"%s\"},{\"id\":2,\"a\":\"%s\"}"), title, title);
  frame(socket, json);
  expect_write(); /* the first has no type that is known: it failed */
  expect(GATEPOST_SEND);
  frame(socket, OK);
  expect_write();
  expect_request("https://push.example.com/device/inbox", "Bearer first");
  uint32_t asked = order.number;
  frame(socket, MESSAGES(MESSAGE("3")));
  expect(GATEPOST_WAIT);
  /* Where no answer comes it is asked again, after a pause. */
  gatepost_failed(device, asked, GATEPOST_NO_ANSWER);
  expect(GATEPOST_WAIT);
  passes(order.wait_ms);
  expect_request("https://push.example.com/device/inbox", "Bearer first");
  frame(socket, MESSAGES(MESSAGE("3")));
  says(MESSAGES(MESSAGE("2")));
  expect(GATEPOST_MESSAGE);
  assert(order.id == 2);
  gatepost_handled(device, GATEPOST_USUAL, NULL);
  expect_write();
  passes(1000);
  expect(GATEPOST_SEND);
  frame(socket, OK);
  expect_write();
  expect_request("https://push.example.com/device/inbox", "Bearer first");
  says(MESSAGES(MESSAGE("3")));
  expect(GATEPOST_MESSAGE);
  assert(order.id == 3);
}

static void all_of_an_inbox_is_fetched(void) {
  static char json[150000], text[70001];
  gatepost_options options = options_of(GATEPOST_FETCH);
  begin(&options);
  memset(text, 'x', sizeof text - 1);
  snprintf(json, sizeof json,
           MESSAGES(MESSAGE("1") ",{\"id\":2,\"a\":\"%s\"},{\"id\":3,\"a\":\"%s\"}"), text, text);
  for (int n = 0; n < 2; n++) {
    expect_request("https://push.example.com/device/inbox", "Bearer first");
    says(n == 0 ? json : MESSAGES(""));
    if (n > 0) break;
    expect(GATEPOST_MESSAGE);
    gatepost_handled(device, GATEPOST_USUAL, NULL);
    expect_write();
    expect_write();
    expect_request("https://push.example.com/device/ack", "Bearer first");
    says(OK);
    expect_write();
  }
  expect(GATEPOST_ENDED);
}

static void a_frame_that_was_refused_is_not_sent_again(void) {
  gatepost_options options = options_of(GATEPOST_STREAM);
  begin(&options);
  for (int answers = 0; answers < 2; answers++) {
    uint32_t socket = open_stream("Bearer first");
    gatepost_opened(device, 10 + answers);
    expect_write();
    expect(GATEPOST_SEND);
    passes(5);
    gatepost_opened(device, 20 + answers);
    expect_write();
    /* The server takes few frames in a second. */
    expect(GATEPOST_WAIT);
    passes(order.wait_ms);
    expect(GATEPOST_SEND);
    if (answers) frame(socket, "{\"rc\":0,\"msg\":\"Unknown error\"}");
    gatepost_socket_closed(device, socket, 1007, 0);
    expect_write();
    expect_request("https://push.example.com/device/ack", "Bearer first");
    assert(strstr(order.text, "\"id\":1") == NULL && strstr(order.text, "\"id\":2") != NULL);
    says(OK);
    expect_write();
    expect(GATEPOST_WAIT);
    passes(order.wait_ms);
  }
}

static void a_handshake_that_fails_without_a_word_is_asked_about(void) {
  gatepost_options options = options_of(GATEPOST_STREAM);
  begin(&options);
  expect(GATEPOST_OPEN);
  gatepost_socket_closed(device, order.number, 1006, 0);
  expect_request("https://push.example.com/device/inbox", "Bearer first");
  says("{\"rc\":0,\"msg\":\"Device token error\"}");
  expect_write();
  expect(GATEPOST_WAIT);
  passes(order.wait_ms);
  expect_request("https://push.example.com/device/register", NULL);
  /* The body of a 503 is ignored, and another address for pushes is registered too. */
  static const char REFUSAL[] = "{\"rc\":0,\"msg\":\"Install not found\"}";
  gatepost_answer(device, order.number, 503, REFUSAL, sizeof REFUSAL - 1);
  expect(GATEPOST_WAIT);
  passes(order.wait_ms);
  expect_request("https://push.example.com/device/register", NULL);
  gatepost_set_push(device, "{\"gateway\":\"fcm\"}");
  says(TOKEN("second"));
  expect_write();
  expect_request("https://push.example.com/device/register", "Bearer second");
}

static void pauses_grow_until_a_stream_holds(void) {
  gatepost_options options = options_of(GATEPOST_STREAM);
  uint64_t longest = 0;
  begin(&options);
  for (int n = 0; n < 12; n++) {
    expect(GATEPOST_OPEN);
    gatepost_socket_closed(device, order.number, 1006, 503);
    expect(GATEPOST_WAIT);
    if (order.wait_ms > longest) longest = order.wait_ms;
    passes(order.wait_ms);
  }
  assert(longest > 30000 && longest <= 90001);
  uint32_t socket = open_stream("Bearer first");
  passes(11000);
  gatepost_socket_closed(device, socket, 1001, 0);
  expect(GATEPOST_WAIT);
  assert(order.wait_ms <= 751);
}

static void texts_are_those_of_the_device(void) {
  static const char *const JSON =
      MESSAGES("{\"id\":5,\"notification_type\":10,\"payload\":{\"title\":\"a\\u0000b\",\"body\":"
               "\" <p>one<br/>two &amp;lt; &#8364;&nope;</p>\\n\\n<p>three <b>four</b> <\",\"locales\":"
               "{\"EN\":{\"title\":\"no\"},\"CN\":{\"link-for-open\":\"app:x\"}}}}");
  gatepost_options options = options_of(GATEPOST_STREAM);
  options.locale = "zh_CN";
  begin(&options);
  uint32_t socket = open_stream("Bearer first");
  frame(socket, JSON);
  expect(GATEPOST_MESSAGE);
  assert(strcmp(order.title, "a\xef\xbf\xbd" "b") == 0 && strcmp(order.link, "app:x") == 0);
  assert(strcmp(order.plain, "one\ntwo &lt; \xe2\x82\xac&nope;\nthree four <") == 0);
  /* A message stays where it is while the app has it. */
  gatepost_handled(device, GATEPOST_FAILED, "a\xc2\x85" "b");
  frame(socket, MESSAGES(MESSAGE("6") "," MESSAGE("7")));
  expect_write();
  assert(strstr(order.text, "[5,3,8,\"a b\"]") != NULL);
  expect(GATEPOST_MESSAGE);
  gatepost_handled(device, GATEPOST_KEPT, NULL);
  expect(GATEPOST_MESSAGE);
  push("{\"id\":\"8\",\"message\":\"{\\\"id\\\":8,\\\"payload\\\":{}}\"}", 0);
  assert(memcmp(order.message, "{\"id\":7,", 8) == 0);
}

static void many_messages_are_remembered(void) {
  char json[64];
  gatepost_options options = options_of(GATEPOST_FETCH);
  begin(&options);
  for (int n = 1; n <= 1100; n++) {
    snprintf(json, sizeof json, "{\"id\":%d,\"kind\":\"notification\"}", n);
    push(json, 1);
  }
  expect_write();
  assert(strstr(order.text, "\n[100,") == NULL && strstr(order.text, "\n[101,0,1,") != NULL);
  assert(strstr(order.text, "\n[1100,0,1,") != NULL);
  /* A command that a system says it has shown is still fetched. */
  options = options_of(GATEPOST_STREAM);
  begin(&options);
  expect(GATEPOST_OPEN);
  push("{\"id\":3,\"kind\":\"command\"}", 1);
  expect_request("https://push.example.com/device/inbox", "Bearer first");
}

/* The next order must be a state with this word. */
#define expect_state(state, reason) expect_state_at(state, reason, __LINE__)
static void expect_state_at(gatepost_state state, const char *reason, int line) {
  expect_at(GATEPOST_STATE, line);
  if (strcmp(order.reason, reason) != 0) fprintf(stderr, "%d: reason %s\n", line, order.reason);
  assert(order.state == state && strcmp(order.reason, reason) == 0);
}

#define FREED "{\"rc\":0,\"msg\":\"Device token error\",\"reason\":\"slot_freed\",\"text\":\"Lib\\u00e9r\\u00e9\"}"

static void expect_freed(void) {
  expect_state(GATEPOST_IS_REFUSED, "slot_freed");
  assert(strcmp(order.text, "Lib\xc3\xa9r\xc3\xa9") == 0);
  expect_write();
  assert(strstr(order.text, "\"token\":\"\"") != NULL);
  expect(GATEPOST_ENDED);
  assert(order.state == GATEPOST_IS_REFUSED);
}

static void a_slot_that_ended_is_told_and_the_token_forgotten(void) {
  static const char ONE[] = "{\"rc\":1,\"msg\":\"Ok\",\"data\":[],\"ended\":[{\"reason\":\"link_disabled\","
                            "\"at\":\"2026-01-01 00:00:00\",\"text\":\"t\"}]}";
  gatepost_options options = options_of(GATEPOST_STREAM);
  begin(&options);
  uint32_t socket = open_stream("Bearer first");
  expect_state(GATEPOST_IS_OPEN, "");
  frame(socket, ONE);
  expect_state(GATEPOST_IS_ENDED, "link_disabled");
  assert(strcmp(order.text, "t") == 0);
  expect(GATEPOST_WAIT);
  frame(socket, FREED);
  expect_freed();

  /* In a poll, in an acknowledgement's answer, in a registration's. */
  options = options_of(GATEPOST_POLL);
  begin(&options);
  expect_request("https://push.example.com/device/inbox", "Bearer first");
  says(FREED);
  expect_freed();
  begin(&options);
  expect_request("https://push.example.com/device/inbox", "Bearer first");
  says(MESSAGES(MESSAGE("5")));
  expect(GATEPOST_MESSAGE);
  gatepost_handled(device, GATEPOST_USUAL, NULL);
  expect_write();
  expect_request("https://push.example.com/device/ack", "Bearer first");
  says(FREED);
  expect_freed();
  begin(&options);
  expect_request("https://push.example.com/device/inbox", "Bearer first");
  gatepost_set_push(device, "{\"gateway\":\"fcm\"}");
  says(MESSAGES(""));
  expect_request("https://push.example.com/device/register", "Bearer first");
  says(FREED);
  expect_freed();

  /* Where the frame was lost, the close has the word; and a handshake is asked about. */
  options = options_of(GATEPOST_STREAM);
  begin(&options);
  socket = open_stream("Bearer first");
  expect_state(GATEPOST_IS_OPEN, "");
  gatepost_socket_reason(device, socket, "link_ended");
  gatepost_socket_closed(device, socket, 4004, 0);
  expect_state(GATEPOST_IS_CLOSED, "");
  expect_state(GATEPOST_IS_REFUSED, "link_ended");
  begin(&options);
  expect(GATEPOST_OPEN);
  gatepost_socket_reason(device, order.number, "slot_freed");
  gatepost_socket_closed(device, order.number, 0, 401);
  expect_state(GATEPOST_IS_CLOSED, "");
  expect_request("https://push.example.com/device/inbox", "Bearer first");
  says(FREED);
  expect_freed();
}

static void a_refusal_helps(void) {
  gatepost_options options = options_of(GATEPOST_STREAM);
  options.locale = "fa";
  device = gatepost_new(memory, sizeof memory, &options);
  expect_write();
  expect_request("https://push.example.com/device/register", NULL);
  assert(strcmp(order.language, "fa") == 0 && order.frame_max == 0);
  says("{\"rc\":0,\"msg\":\"Limit reached\",\"reason\":\"link_limit_reached\",\"text\":\"full\",\"limit\":3,"
       "\"free_url\":\"https://push.example.com/my\"}");
  expect_state(GATEPOST_IS_REFUSED, "link_limit_reached");
  assert(strcmp(order.detail, "Limit reached") == 0 && strcmp(order.text, "full") == 0);
  assert(order.limit == 3 && strcmp(order.free_url, "https://push.example.com/my") == 0);
  expect(GATEPOST_ENDED);
}

static void an_answer_that_is_missing_has_its_reason(void) {
  static const char PAGE[] = "<html>no</html>";
  gatepost_options options = options_of(GATEPOST_STREAM);
  device = gatepost_new(memory, sizeof memory, &options);
  expect_write();
  for (int n = 0; n < 7; n++) {
    static const char *const WORDS[] = {"no_answer", "refused_port", "tls",     "name",
                                        "not_json",  "wrong_path",   "timeout"};
    expect_request("https://push.example.com/device/register", NULL);
    if (n < 4) gatepost_failed(device, order.number, (gatepost_fault)n);
    if (n == 4) gatepost_answer(device, order.number, 502, PAGE, sizeof PAGE - 1);
    if (n == 5) gatepost_answer(device, order.number, 404, PAGE, sizeof PAGE - 1);
    if (n == 6) passes(30000);
    if (n == 6) expect(GATEPOST_CANCEL);
    expect_state(GATEPOST_IS_CLOSED, WORDS[n]);
    assert(strstr(order.detail, "https://push.example.com/device") != NULL);
    expect(GATEPOST_WAIT);
    passes(order.wait_ms);
  }
  expect_request("https://push.example.com/device/register", NULL);
  says(TOKEN("first"));
  expect_write();
  expect(GATEPOST_OPEN);
  gatepost_failed(device, order.number, GATEPOST_NO_TLS);
  expect_state(GATEPOST_IS_CLOSED, "tls");
  expect(GATEPOST_WAIT);
  passes(order.wait_ms);
  expect(GATEPOST_OPEN);
  gatepost_socket_closed(device, order.number, 0, 404);
  expect_state(GATEPOST_IS_CLOSED, "wrong_path");
}

static void a_stub_is_fetched_and_then_acknowledged(void) {
  static const char STUB[] = "{\"id\":6,\"notification_type\":10,\"stub\":true}";
  char json[400];
  gatepost_options options = options_of(GATEPOST_STREAM);
  options.frame_max = 4096;
  begin(&options);
  expect(GATEPOST_OPEN);
  assert(order.frame_max == 4096);
  uint32_t socket = order.number;
  gatepost_socket_opened(device, socket, 0);
  snprintf(json, sizeof json, MESSAGES(MESSAGE("5") ",%s," MESSAGE("7")), STUB);
  frame(socket, json);
  expect(GATEPOST_MESSAGE);
  gatepost_handled(device, GATEPOST_USUAL, NULL);
  expect_write();
  expect_request("https://push.example.com/device/inbox?id=6", "Bearer first");
  assert(order.frame_max == 4096);
  uint32_t whole = order.number;
  expect(GATEPOST_SEND);
  assert(strstr(order.text, "\"id\":5") != NULL && strstr(order.text, "\"id\":6") == NULL);
  frame(socket, OK);
  /* It is asked again where no answer came. */
  gatepost_failed(device, whole, GATEPOST_NO_ANSWER);
  expect_write();
  expect(GATEPOST_WAIT);
  passes(order.wait_ms);
  expect_request("https://push.example.com/device/inbox?id=6", "Bearer first");
  says(MESSAGES(MESSAGE("6")));
  expect(GATEPOST_MESSAGE);
  assert(order.id == 6 && strcmp(order.title, "t") == 0);
  gatepost_handled(device, GATEPOST_USUAL, NULL);
  expect_write();
  expect(GATEPOST_MESSAGE);
  assert(order.id == 7 && order.message[order.message_size - 1] == '}');
  gatepost_handled(device, GATEPOST_USUAL, NULL);
  expect_write();
  passes(1000);
  expect(GATEPOST_SEND);
  assert(strstr(order.text, "\"id\":6") != NULL && strstr(order.text, "\"id\":7") != NULL);
  frame(socket, OK);
  expect_write();
  /* One that is no more needs no acknowledgement. */
  frame(socket, MESSAGES("{\"id\":8,\"stub\":true}"));
  expect_request("https://push.example.com/device/inbox?id=8", "Bearer first");
  says(MESSAGES(""));
  expect(GATEPOST_WAIT);
}

static void an_attempt_of_its_own_that_comes_late_is_no_other_device(void) {
  gatepost_options options = options_of(GATEPOST_STREAM);
  begin(&options);
  expect(GATEPOST_OPEN);
  passes(30000);
  expect(GATEPOST_CUT);
  expect_state(GATEPOST_IS_CLOSED, "timeout");
  for (int n = 0; n < 2; n++) {
    expect(GATEPOST_WAIT);
    passes(order.wait_ms);
    uint32_t socket = open_stream("Bearer first");
    gatepost_socket_closed(device, socket, 4002, 0);
  }
  expect(GATEPOST_ENDED);
  assert(order.state == GATEPOST_IS_REPLACED);
}

static void a_phone_that_sleeps_polls_seldom(void) {
  gatepost_options options = options_of(GATEPOST_POLL);
  options.asleep = 900;
  begin(&options);
  for (int n = 0; n < 2; n++) {
    expect_request("https://push.example.com/device/inbox", "Bearer first");
    says(MESSAGES(MESSAGE("5")));
    if (n == 0) expect(GATEPOST_MESSAGE);
    if (n == 0) gatepost_handled(device, GATEPOST_USUAL, NULL);
    expect_write();
    expect_request("https://push.example.com/device/ack", "Bearer first");
    says(OK);
    expect_write();
    if (n == 0) continue;
    /* There may be more: it sleeps after an answer without anything new. */
    expect(GATEPOST_WAIT);
    assert(order.wait_ms == 900000);
    push("{\"id\":9,\"kind\":\"command\"}", 0);
    expect_request("https://push.example.com/device/inbox", "Bearer first");
  }
}

static char logged[4096];

static void keep_line(void *context, const char *line) {
  assert(context == logged && strlen(logged) + strlen(line) + 2 < sizeof logged);
  strcat(strcat(logged, line), "\n");
}

static void a_log_has_no_secrets(void) {
  gatepost_options options = options_of(GATEPOST_STREAM);
  options.log = keep_line;
  options.log_context = logged;
  begin(&options);
  open_stream("Bearer first");
  assert(strcmp(logged, "asks https://push.example.com/device/register\n"
                        "opens wss://push.example.com/device/stream\nopen \n") == 0);
}

static void a_subscription_names_its_server(void) {
  static const char *const WRONG[] = {"//other.example/x", "https://other.example/x", "/", "x", "/a?b",
                                      "/\\other.example", "/a b", "/a/../b", "/./a", "/a//b", "/a/"};
  static const char ADDRESS[] = "https://sub.example.com:8443/s/KEY?a=1#Title";
  char headers[300];
  gatepost_server server;
  gatepost_options options = options_of(GATEPOST_POLL);
  assert(gatepost_discover(&server, ADDRESS, "/.well-known/device-messages", "{\"os\":\"ios\"}"));
  assert(strcmp(server.url, "https://sub.example.com:8443") == 0);
  assert(strcmp(server.registration, "{\"subscription_url\":\"/s/KEY?a=1\",\"os\":\"ios\"}") == 0);
  options.url = server.url;
  options.base = server.base;
  options.registration = server.registration;
  options.hwid = "mine";
  device = gatepost_new(memory, sizeof memory, &options);
  expect_write();
  expect_request("https://sub.example.com:8443/.well-known/device-messages/register", NULL);
  assert(strcmp(order.text, "{\"hwid\":\"mine\",\"subscription_url\":\"/s/KEY?a=1\",\"os\":\"ios\"}") == 0);
  says(TOKEN("first"));
  expect_write();
  expect_request("https://sub.example.com:8443/.well-known/device-messages/inbox", "Bearer first");
  assert(gatepost_headers_for("mine", "{\"os\":\"ios\"}", headers, sizeof headers) > 0);
  assert(strcmp(headers, "x-hwid: mine\r\nx-device-protocol: 1\r\nx-device-os: ios\r\n") == 0);
  for (size_t n = 0; n < sizeof WRONG / sizeof *WRONG; n++) {
    assert(!gatepost_discover(&server, ADDRESS, WRONG[n], NULL));
  }
  assert(!gatepost_discover(&server, ADDRESS, NULL, NULL));
  assert(!gatepost_discover(&server, "ftp://sub.example.com/", "/devices", NULL));
  assert(!gatepost_discover(&server, "https://a@sub.example.com/", "/devices", NULL));
  assert(gatepost_discover(&server, "https://sub.example.com", "/devices", NULL));
  assert(strcmp(server.registration, "{\"subscription_url\":\"/\"}") == 0);
  assert(strcmp(server.base, "/devices") == 0);
  /* A token that is there is shown again at each start. */
  options.state = "{\"version\":1,\"hwid\":\"mine\",\"token\":\"first\"}";
  options.state_size = strlen(options.state);
  device = gatepost_new(memory, sizeof memory, &options);
  expect_request("https://sub.example.com/devices/register", "Bearer first");
}

static void options_that_do_not_fit_are_refused(void) {
  gatepost_options options = options_of(GATEPOST_STREAM);
  /* Without TLS nothing is said to an https address. */
  options.has_tls = 0;
  assert(gatepost_new(memory, sizeof memory, &options) == NULL);
  assert(strstr(gatepost_misfit(memory, sizeof memory, &options), "has_tls") != NULL);
  options.has_tls = 1;
  options.url = "push.example.com";
  assert(strstr(gatepost_misfit(memory, sizeof memory, &options), "https://") != NULL);
  options.url = "https://push.example.com/";
  assert(gatepost_misfit(memory, sizeof memory, &options) == NULL);
  assert(gatepost_misfit(memory, 1000, &options) != NULL);
  assert(gatepost_new(memory, 1000, &options) == NULL);
  options.ping = 14;
  assert(gatepost_new(memory, sizeof memory, &options) == NULL);
  options.ping = 15;
  options.registration = "[]";
  assert(gatepost_new(memory, sizeof memory, &options) == NULL);
  options.registration = NULL;
  options.hwid = "a b";
  assert(gatepost_new(memory, sizeof memory, &options) == NULL);
  options.hwid = "mine";
  options.url = "ftp://push.example.com";
  assert(gatepost_new(memory, sizeof memory, &options) == NULL);
  options.url = "https://push.example.com";
  /* The token is of another HWID: it is not shown. */
  options.state = "{\"version\":1,\"hwid\":\"other\",\"token\":\"theirs\",\"seen\":[]}";
  options.state_size = strlen(options.state);
  device = gatepost_new(memory, sizeof memory, &options);
  expect_write();
  assert(strstr(order.text, "\"mine\",\"token\":\"\"") != NULL);
  options.hwid = NULL;
  options.state = "{\"version\":1,\"hwid\":\"other\",\"token\":\"theirs\"}";
  options.state_size = strlen(options.state);
  device = gatepost_new(memory, sizeof memory, &options);
  expect(GATEPOST_OPEN);
  assert(strcmp(order.url, "wss://push.example.com/device/stream?ping=15") == 0);
  assert(strcmp(order.authorization, "Bearer theirs") == 0);
}

int main(void) {
  a_library_that_hides_pings_sends_its_own();
  silence_is_judged_by_the_pings_that_the_server_names();
  a_state_that_is_kept_is_not_written_again();
  what_a_push_brings_is_fetched_in_the_background();
  a_token_that_was_renewed_is_no_death();
  what_the_server_never_takes_is_dropped();
  a_poll_waits_for_as_long_as_the_server_names();
  a_poll_that_is_answered_at_once_is_no_circle();
  what_does_not_fit_comes_in_several_answers();
  what_comes_meanwhile_stands_behind_what_is_fetched();
  all_of_an_inbox_is_fetched();
  a_frame_that_was_refused_is_not_sent_again();
  a_handshake_that_fails_without_a_word_is_asked_about();
  pauses_grow_until_a_stream_holds();
  texts_are_those_of_the_device();
  many_messages_are_remembered();
  a_slot_that_ended_is_told_and_the_token_forgotten();
  a_refusal_helps();
  an_answer_that_is_missing_has_its_reason();
  a_stub_is_fetched_and_then_acknowledged();
  an_attempt_of_its_own_that_comes_late_is_no_other_device();
  a_phone_that_sleeps_polls_seldom();
  a_log_has_no_secrets();
  a_subscription_names_its_server();
  options_that_do_not_fit_are_refused();
  return 0;
}
