package org.gatepost.device;

/** How it stands with a device. */
public enum State {
  /** It gets messages. */
  OPEN,
  /** It comes back by itself; as the end of a device: the app closed it. */
  CLOSED,
  /** It ended: the server refused the registration. Show the reason to the user. */
  REFUSED,
  /** It ended: another stream of this device is in use. Do not start again. */
  REPLACED
}
