package org.gatepost.device

import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.runInterruptible

/** Runs a device until it ends, and returns why; to cancel is to close it. */
suspend fun Device.run(): State =
  try {
    start()
    runInterruptible(Dispatchers.IO) { await() }
  } finally {
    close()
  }

/** Makes a handler of a suspending one: the kit's thread waits, and the next message with it. */
fun suspending(handle: suspend (Message) -> Outcome?): (Message) -> Outcome? = { message ->
  runBlocking { handle(message) }
}
