/* The order that is due after each event: streams, polls, messages, pushes and their pauses. */
#include "play.h"

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
  options_that_do_not_fit_are_refused();
  return 0;
}
