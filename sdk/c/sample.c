/* A phone in the terminal: sample https://HOST LINK DOMAIN_HASH. Without TLS: http://HOST:PORT. */
#include <stdio.h>
#include <stdlib.h>

#include "gatepost-net.h"

static const char *const FILE_NAME = "device.state", *const NEW_NAME = "device.state.new";

static size_t read_file(char *text, size_t size) {
  FILE *file = fopen(FILE_NAME, "rb");
  size_t used = file == NULL ? 0 : fread(text, 1, size, file);
  if (file != NULL) fclose(file);
  return used;
}

static int write_file(const char *text, size_t size) {
  FILE *file = fopen(NEW_NAME, "wb");
  if (file == NULL) return 0;
  int is_whole = fwrite(text, 1, size, file) == size;
  return fclose(file) == 0 && is_whole && rename(NEW_NAME, FILE_NAME) == 0;
}

static void show(gatepost_device *device, const gatepost_order *order) {
  if (*order->action == '\0') printf("%s\n%s\n", order->title, order->plain);
  else printf("%s: %.*s\n", order->action, (int)order->message_size, order->message);
  gatepost_handled(device, GATEPOST_USUAL, NULL);
}

static void show_state(const gatepost_order *order) {
  static const char *const STATES[] = {"open", "closed", "refused", "replaced", "ended"};
  printf("(%s) %s\n", STATES[order->state], *order->text == '\0' ? order->detail : order->text);
  if (*order->free_url != '\0') printf("free a slot: %s\n", order->free_url);
}

int main(int count, char **arguments) {
  static char state[GATEPOST_STATE_MAX], registration[512];
  gatepost_options options = {.state = state, .registration = registration, .url = arguments[1]};
  size_t size = gatepost_size(GATEPOST_INPUT_SIZE);
  void *memory = malloc(size);
  gatepost_order order;
  if (count != 4 || !net_random(options.random, sizeof options.random)) return 2;
  snprintf(registration, sizeof registration,
           "{\"os\":\"linux\",\"install_code\":\"%s\",\"domain_hash\":\"%s\"}", arguments[2],
           arguments[3]);
  options.state_size = read_file(state, sizeof state);
  options.now_ms = net_now_ms();
  options.has_tls = net_has_tls();
  gatepost_device *device = gatepost_new(memory, size, &options);
  if (device == NULL) return fprintf(stderr, "%s\n", gatepost_misfit(memory, size, &options)), 2;
  for (;;) {
    fflush(stdout);
    gatepost_time(device, net_now_ms());
    switch (gatepost_next(device, &order)) {
      case GATEPOST_WAIT: net_wait(device, order.wait_ms, -1); break;
      case GATEPOST_WRITE: gatepost_written(device, write_file(order.text, order.size)); break;
      case GATEPOST_MESSAGE: show(device, &order); break;
      case GATEPOST_STATE: show_state(&order); break;
      case GATEPOST_ENDED: return 0;
      default: net_obey(&order);
    }
  }
}
