package org.gatepost.device;

/** How it stands with a device. */
public enum State {
  /** It gets messages. */
  OPEN,
  /** It comes back by itself; as the end of a device: the app closed it. */
  CLOSED,
  /** A slot or a link of its user ended; the device goes on for the others. */
  ENDED,
  /** It ended: the server refused it. Show the text, or else the detail, to the user. */
  REFUSED,
  /** It ended: another stream of this device is in use. Do not start again. */
  REPLACED
}
