package org.gatepost.device;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;

/** A store in a file of the app's own folder, which is replaced whole. */
public final class FileStore implements Store {
  private final File file;

  public FileStore(File file) {
    this.file = file;
  }

  @Override
  public String read() throws IOException {
    if (!file.exists()) return null;
    return new String(Files.readAllBytes(file.toPath()), StandardCharsets.UTF_8);
  }

  @Override
  public void write(String text) throws IOException {
    File next = new File(file.getPath() + ".new");
    try (FileOutputStream out = new FileOutputStream(next)) {
      out.write(text.getBytes(StandardCharsets.UTF_8));
      out.getFD().sync();
    }
    Files.move(next.toPath(), file.toPath(), StandardCopyOption.ATOMIC_MOVE);
  }
}
