package org.gatepost.device;

import java.io.IOException;

/** Keeps the state of a device in the store of the app. Its thread of work alone changes it. */
final class Keeper {
  private final Store store;
  private final String givenHwid;
  private Memory now;

  Keeper(Store store, String givenHwid) {
    this.store = store;
    this.givenHwid = givenHwid;
  }

  /** Returns the state as it was written last. */
  synchronized Memory now() throws IOException {
    // The new HWID is saved before it is sent.
    if (now == null) write(Memory.read(store.read(), givenHwid));
    return now;
  }

  synchronized void write(Memory next) throws IOException {
    store.write(next.write());
    now = next;
  }

  /** Takes the state that the app has written itself. */
  synchronized void wasWritten(Memory next) {
    now = next;
  }
}
