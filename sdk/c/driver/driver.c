/*
 * Drives the kit by lines of JSON on standard input, for `gatepost device check --against` and
 * tests. docs/device-check.md has the lines.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gatepost-net.h"

enum { LINE_MAX_BYTES = 1024 * 1024, TEXT_MAX = 8192 };

static gatepost_device *device;
static void *memory;
static int is_transaction;

/* The file of the store: a line with the effects of the app, then the state of the kit. */
static char path[1024];
static char state[GATEPOST_STATE_MAX];
static size_t state_size;
static int64_t *effects;
static size_t effects_count;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static void add_effect(int64_t id) {
  effects = realloc(effects, (effects_count + 1) * sizeof *effects);
  if (effects == NULL) fail("memory");
  effects[effects_count++] = id;
}

static void read_store(void) {
  FILE *file = fopen(path, "rb");
  int64_t id;
  effects_count = state_size = 0;
  if (file == NULL) return;
  while (fscanf(file, "%" SCNd64, &id) == 1 && id > 0) add_effect(id);
  while (fgetc(file) != '\n' && !feof(file)) continue;
  state_size = fread(state, 1, sizeof state, file);
  fclose(file);
}

static void write_store(void) {
  char renamed[sizeof path + 8];
  FILE *file;
  snprintf(renamed, sizeof renamed, "%s.new", path);
  file = fopen(renamed, "wb");
  if (file == NULL) fail(renamed);
  for (size_t n = 0; n < effects_count; n++) fprintf(file, "%" PRId64 " ", effects[n]);
  fprintf(file, "0\n");
  fwrite(state, 1, state_size, file);
  if (fclose(file) != 0 || rename(renamed, path) != 0) fail(path);
}

static void set_state(const char *text, size_t size) {
  memcpy(state, text, size);
  state_size = size;
}

/* Prints pieces of a line of JSON: `%` stands for the next text, as a JSON string. */
static void say(const char *form, ...) {
  va_list texts;
  va_start(texts, form);
  for (; *form != '\0'; form++) {
    const char *text;
    if (*form != '%') {
      putchar(*form);
      continue;
    }
    putchar('"');
    for (text = va_arg(texts, const char *); *text != '\0'; text++) {
      if (*text == '"' || *text == '\\') printf("\\%c", *text);
      else if ((unsigned char)*text < 0x20) printf("\\u%04x", (unsigned char)*text);
      else putchar(*text);
    }
    putchar('"');
  }
  va_end(texts);
  putchar('\n');
  fflush(stdout);
}

static void handle(const gatepost_order *order) {
  printf("{\"said\":\"message\",\"id\":%" PRId64 ",\"type\":%u,", order->id, (unsigned)order->type);
  say("\"title\":%,\"text\":%,\"action\":%}", order->title, order->plain, order->action);
  add_effect(order->id);
  if (is_transaction) set_state(order->text, order->size);
  write_store();
  gatepost_handled(device, is_transaction ? GATEPOST_KEPT : GATEPOST_USUAL, NULL);
}

/* Carries out orders until the device waits. Returns for how long, ms. */
static uint64_t run_orders(void) {
  static const char *const STATES[] = {"open", "closed", "refused", "replaced", "ended"};
  gatepost_order order;
  if (device == NULL) return 60000;
  gatepost_time(device, net_now_ms());
  for (;;) {
    switch (gatepost_next(device, &order)) {
      case GATEPOST_WAIT:
        return order.wait_ms;
      case GATEPOST_ENDED:
        net_drop();
        return 60000;
      case GATEPOST_WRITE:
        set_state(order.text, order.size);
        write_store();
        gatepost_written(device, 1);
        break;
      case GATEPOST_MESSAGE:
        handle(&order);
        break;
      case GATEPOST_STATE:
        printf("{\"said\":\"state\",\"limit\":%d,", order.limit);
        say("\"state\":%,\"detail\":%,\"reason\":%,\"text\":%,\"free_url\":%}", STATES[order.state],
            order.detail, order.reason, order.text, order.free_url);
        break;
      default:
        net_obey(&order);
    }
  }
}

/* Decodes a text of an order; empty: there is none. */
static const char *text_in(const char *line, const char *name, char *out, size_t size) {
  const char *value;
  size_t value_size;
  *out = '\0';
  if (gatepost_field(line, strlen(line), name, &value, &value_size)) {
    gatepost_decode(value, value_size, out, size);
  }
  return out;
}

/* Copies a value of an order as it stands; NULL: it is null, or not there. */
static const char *json_in(const char *line, const char *name, char *out, size_t size) {
  const char *value;
  size_t value_size;
  if (!gatepost_field(line, strlen(line), name, &value, &value_size)) return NULL;
  if (value_size >= size) return NULL;
  memcpy(out, value, value_size);
  out[value_size] = '\0';
  return strcmp(out, "null") == 0 ? NULL : out;
}

static int is_true(const char *line, const char *name) {
  char value[8];
  const char *json = json_in(line, name, value, sizeof value);
  return json != NULL && strcmp(json, "true") == 0;
}

/* Reads an answer to a subscription's fetch into the options. Returns 0 if it names no server. */
static int discover(const char *line, gatepost_options *options) {
  static gatepost_server server;
  static char subscription[2 * TEXT_MAX], headers[TEXT_MAX], url[TEXT_MAX], path[TEXT_MAX];
  json_in(line, "subscription", subscription, sizeof subscription);
  if (json_in(subscription, "headers", headers, sizeof headers) == NULL) return 0;
  text_in(subscription, "url", url, sizeof url);
  text_in(headers, "x-device-server", path, sizeof path);
  if (!gatepost_discover(&server, url, path, options->registration)) return 0;
  options->url = server.url;
  options->base = server.base;
  options->registration = server.registration;
  return 1;
}

static void start(const char *line) {
  static char url[TEXT_MAX], hwid[TEXT_MAX], locale[TEXT_MAX], push[TEXT_MAX], value[TEXT_MAX];
  static char registration[4 * TEXT_MAX], folder[900], number[32], mode[32];
  static const char *const FIELDS[][2] = {
      {"os", "os"}, {"link", "install_code"}, {"domain_hash", "domain_hash"}};
  gatepost_options options;
  memset(&options, 0, sizeof options);
  snprintf(path, sizeof path, "%s/device.txt", text_in(line, "folder", folder, sizeof folder));
  read_store();
  strcpy(registration, "{\"os_version\":\"15\",\"device_name\":\"Driver\",\"app_version\":\"1.0\"");
  for (size_t n = 0; n < sizeof FIELDS / sizeof *FIELDS; n++) {
    size_t used = strlen(registration);
    if (json_in(line, FIELDS[n][0], value, sizeof value) == NULL) continue;
    snprintf(registration + used, sizeof registration - used, ",\"%s\":%s", FIELDS[n][1], value);
  }
  strcat(registration, "}");
  options.url = text_in(line, "url", url, sizeof url);
  options.registration = registration;
  if (*options.url == '\0' && !discover(line, &options)) {
    say("{\"said\":\"nothing\"}");
    return;
  }
  options.push = json_in(line, "push", push, sizeof push);
  options.hwid = *text_in(line, "hwid", hwid, sizeof hwid) == '\0' ? NULL : hwid;
  options.locale = text_in(line, "locale", locale, sizeof locale);
  options.state = state_size == 0 ? NULL : state;
  options.state_size = state_size;
  text_in(line, "mode", mode, sizeof mode);
  options.mode = strcmp(mode, "poll") == 0 ? GATEPOST_POLL : GATEPOST_STREAM;
  options.ping = json_in(line, "ping", number, sizeof number) == NULL ? 0 : atoi(number);
  options.pace = json_in(line, "pace", number, sizeof number) == NULL ? 1 : atof(number);
  options.asleep = json_in(line, "asleep", number, sizeof number) == NULL ? 0 : atoi(number);
  options.frame_max = json_in(line, "frame_max", number, sizeof number) == NULL ? 0 : atoi(number);
  options.has_tls = net_has_tls();
  options.now_ms = net_now_ms();
  is_transaction = is_true(line, "transaction");
  if (!net_random(options.random, sizeof options.random)) fail("/dev/urandom");
  free(memory);
  memory = malloc(gatepost_size(GATEPOST_INPUT_SIZE));
  device = gatepost_new(memory, gatepost_size(GATEPOST_INPUT_SIZE), &options);
  if (device == NULL) {
    size_t size = gatepost_size(GATEPOST_INPUT_SIZE);
    fprintf(stderr, "an option does not fit: %s\n", gatepost_misfit(memory, size, &options));
    exit(1);
  }
  net_drop();
  say("{\"said\":\"started\"}");
}

static void say_headers(void) {
  char headers[2048], *at = headers;
  const char *between = "";
  gatepost_headers(device, headers, sizeof headers);
  printf("{\"said\":\"headers\",\"headers\":{");
  while (*at != '\0') {
    char *value = strstr(at, ": "), *end = strstr(at, "\r\n");
    *value = *end = '\0';
    printf("%s\"%s\":", between, at);
    printf("\"");
    for (value += 2; *value != '\0'; value++) {
      if (*value == '"' || *value == '\\') putchar('\\');
      putchar(*value);
    }
    printf("\"");
    between = ",";
    at = end + 2;
  }
  say("}}");
}

static void say_effects(void) {
  printf("{\"said\":\"effects\",\"ids\":[");
  for (size_t n = 0; n < effects_count; n++) printf("%s%" PRId64, n > 0 ? "," : "", effects[n]);
  say("]}");
}

static void obey(const char *line) {
  static char json[LINE_MAX_BYTES];
  char order[32], number[32];
  text_in(line, "do", order, sizeof order);
  if (strcmp(order, "start") == 0) start(line);
  if (device == NULL) return;
  if (strcmp(order, "push") == 0 && json_in(line, "data", json, sizeof json) != NULL) {
    gatepost_pushed(device, json, strlen(json), is_true(line, "shown"));
  } else if (strcmp(order, "push_token") == 0) {
    /* Further fields of the line are no harm: the server ignores what it does not know. */
    char gateway[64] = "null", token[4400] = "null";
    json_in(line, "gateway", gateway, sizeof gateway);
    json_in(line, "token", token, sizeof token);
    snprintf(json, sizeof json, "{\"gateway\":%s,\"token\":%s}", gateway, token);
    gatepost_set_push(device, json);
  } else if (strcmp(order, "opened") == 0) {
    if (json_in(line, "id", number, sizeof number) != NULL) gatepost_opened(device, atoll(number));
  } else if (strcmp(order, "headers") == 0) {
    say_headers();
  } else if (strcmp(order, "effects") == 0) {
    say_effects();
  } else if (strcmp(order, "stop") == 0) {
    gatepost_close(device);
    run_orders();
    say("{\"said\":\"stopped\"}");
  }
}

int main(void) {
  static char input[LINE_MAX_BYTES];
  size_t used = 0;
  for (;;) {
    ssize_t got;
    char *end;
    if (!net_wait(device, run_orders(), 0)) continue;
    got = read(0, input + used, sizeof input - 1 - used);
    if (got <= 0) return 0;
    used += (size_t)got;
    input[used] = '\0';
    while ((end = strchr(input, '\n')) != NULL) {
      *end = '\0';
      obey(input);
      used -= (size_t)(end + 1 - input);
      memmove(input, end + 1, used + 1);
    }
  }
}
