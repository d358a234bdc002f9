/*
 * Plays a server and an app to the kit event by event, and compares each order: what the cases of
 * `gatepost device check` cannot see from the line.
 */
#ifndef PLAY_H
#define PLAY_H

#undef NDEBUG
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gatepost.h"

#define OK "{\"rc\":1,\"msg\":\"Ok\"}"
#define TOKEN(t) "{\"rc\":1,\"msg\":\"Ok\",\"device_token\":\"" t "\"}"
#define MESSAGE(id) "{\"id\":" id ",\"notification_type\":10,\"payload\":{\"title\":\"t\"}}"
#define MESSAGES(list) "{\"rc\":1,\"msg\":\"Ok\",\"data\":[" list "]}"

static gatepost_device *device;
static gatepost_order order;
static char memory[300000];
static uint64_t now;

static inline gatepost_options options_of(gatepost_mode mode) {
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

static inline void passes(uint64_t ms) {
  gatepost_time(device, now += ms);
}

/* The next order must be of this kind; a state is reported between. */
#define expect(kind) expect_at(kind, __LINE__)
static inline void expect_at(gatepost_kind kind, int line) {
  gatepost_kind next = gatepost_next(device, &order);
  while (next == GATEPOST_STATE && kind != GATEPOST_STATE) next = gatepost_next(device, &order);
  if (next != kind) fprintf(stderr, "%d: order %d, not %d\n", line, (int)next, (int)kind);
  assert(next == kind);
}

#define expect_request(url, authorization) expect_request_at(url, authorization, __LINE__)
static inline void expect_request_at(const char *url, const char *authorization, int line) {
  expect_at(GATEPOST_REQUEST, line);
  assert(strcmp(order.url, url) == 0);
  assert(authorization == NULL ? order.authorization == NULL
                               : strcmp(order.authorization, authorization) == 0);
}

#define expect_write() expect_write_at(__LINE__)
static inline void expect_write_at(int line) {
  expect_at(GATEPOST_WRITE, line);
  gatepost_written(device, 1);
}

static inline void says(const char *json) {
  gatepost_answer(device, order.number, 200, json, strlen(json));
}

/* A device that has registered: its HWID and its token were written before it went on. */
static inline void begin(const gatepost_options *options) {
  device = gatepost_new(memory, sizeof memory, options);
  assert(device != NULL);
  expect_write();
  assert(strstr(order.text, "0707070707070707") != NULL);
  expect_request("https://push.example.com/device/register", NULL);
  says(TOKEN("first"));
  expect_write();
  assert(strstr(order.text, "\"first\"") != NULL);
}

static inline uint32_t open_stream(const char *authorization) {
  expect(GATEPOST_OPEN);
  assert(strcmp(order.url, "wss://push.example.com/device/stream") == 0);
  assert(strcmp(order.authorization, authorization) == 0);
  gatepost_socket_opened(device, order.number, 0);
  return order.number;
}

static inline void frame(uint32_t socket, const char *json) {
  gatepost_socket_frame(device, socket, json, strlen(json));
}

static inline void push(const char *json, int was_shown) {
  gatepost_pushed(device, json, strlen(json), was_shown);
}

/* The next order must be a state with this word. */
#define expect_state(state, reason) expect_state_at(state, reason, __LINE__)
static inline void expect_state_at(gatepost_state state, const char *reason, int line) {
  expect_at(GATEPOST_STATE, line);
  if (strcmp(order.reason, reason) != 0) fprintf(stderr, "%d: reason %s\n", line, order.reason);
  assert(order.state == state && strcmp(order.reason, reason) == 0);
}

#endif
