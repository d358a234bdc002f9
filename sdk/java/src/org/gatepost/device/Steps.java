package org.gatepost.device;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** A thread of its own that does steps, one after the other. */
final class Steps {
  /** A step that may fail. */
  interface Step {
    void make() throws IOException;
  }

  private final ScheduledThreadPoolExecutor executor;
  private volatile Thread thread;

  Steps(String name) {
    executor =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              thread = new Thread(task, name);
              thread.setDaemon(true);
              return thread;
            });
    executor.setRemoveOnCancelPolicy(true);
    // A device that ended leaves no thread behind.
    executor.setKeepAliveTime(10, TimeUnit.SECONDS);
    executor.allowCoreThreadTimeOut(true);
  }

  /** Does a step after those before it, and waits for what it returns. */
  <T> T ask(Callable<T> step) throws IOException {
    try {
      if (Thread.currentThread() == thread) return step.call();
      return executor.submit(step).get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof IOException) throw (IOException) e.getCause();
      throw new IOException(e.getCause());
    } catch (InterruptedException e) {
      throw new InterruptedIOException();
    } catch (IOException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IOException(e);
    }
  }

  /** Does a step after those before it, and waits for its end. */
  void run(Step step) throws IOException {
    ask(
        () -> {
          step.make();
          return null;
        });
  }

  /** Does a step later, after those before it. */
  CompletableFuture<Void> add(Step step) {
    return CompletableFuture.runAsync(runnable(step), executor);
  }

  /** Does a step here after what another thread does. */
  CompletableFuture<Void> addAfter(CompletableFuture<Void> before, Step step) {
    return before.thenRunAsync(runnable(step), executor);
  }

  private static Runnable runnable(Step step) {
    return () -> {
      try {
        step.make();
      } catch (IOException e) {
        throw new CompletionException(e);
      }
    };
  }

  ScheduledFuture<?> after(int ms, Runnable task) {
    return executor.schedule(task, ms, TimeUnit.MILLISECONDS);
  }
}
