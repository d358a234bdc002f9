package org.gatepost.device;

import java.io.IOException;

/** The store of the app: one text. It is called on the kit's threads, once at a time. */
public interface Store {
  /** Returns what was written last; null: nothing yet. */
  String read() throws IOException;

  /** Writes the text whole: half of one must never be read. */
  void write(String text) throws IOException;
}
