/* Answers: ends of slots, refusals, faults, stubs, and that of a subscription's fetch. */
#include "play.h"

#define FREED \
  "{\"rc\":0,\"msg\":\"Device token error\"" \
  ",\"reason\":\"slot_freed\",\"text\":\"Lib\\u00e9r\\u00e9\"}"

static void expect_freed(void) {
  expect_write();
  assert(strstr(order.text, "\"token\":\"\"") != NULL);
  expect_state(GATEPOST_IS_REFUSED, "slot_freed");
  assert(strcmp(order.text, "Lib\xc3\xa9r\xc3\xa9") == 0);
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
  expect_write();
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

int main(void) {
  a_slot_that_ended_is_told_and_the_token_forgotten();
  a_refusal_helps();
  an_answer_that_is_missing_has_its_reason();
  a_stub_is_fetched_and_then_acknowledged();
  an_attempt_of_its_own_that_comes_late_is_no_other_device();
  a_phone_that_sleeps_polls_seldom();
  a_log_has_no_secrets();
  a_subscription_names_its_server();
  return 0;
}
