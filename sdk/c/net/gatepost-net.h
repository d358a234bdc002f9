/*
 * Carries out a device's orders with POSIX sockets: HTTP/1.1 and WebSocket. With tls-openssl.c it
 * speaks TLS; with tls-none.c an https:// address is refused. For the driver and the samples, and
 * for apps that have no HTTP and WebSocket of their own.
 */
#ifndef GATEPOST_NET_H
#define GATEPOST_NET_H

#include "gatepost.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Tells whether an https:// address can be spoken to: for `has_tls` of the options. */
int net_has_tls(void);
/* Returns a steady time, ms. */
uint64_t net_now_ms(void);
/* Fills in random bytes of the system. Returns 0 if there are none. */
int net_random(unsigned char *bytes, size_t size);
/* Carries out GATEPOST_REQUEST, CANCEL, OPEN, SEND, PING and CUT. */
void net_obey(const gatepost_order *order);
/* Waits for events of the network and reports them to the device, if there is one. Returns 1 if
 * `input` (-1: none) can be read. */
int net_wait(gatepost_device *device, uint64_t wait_ms, int input);
/* Drops all requests and sockets. */
void net_drop(void);

#ifdef __cplusplus
}
#endif

#endif
