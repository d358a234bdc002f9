package org.gatepost.device

/** Makes a device whose handler is a lambda; null acknowledges as is usual. See [Listener]. */
fun device(
  options: Options,
  store: Store,
  onReport: (Report) -> Unit = {},
  onMessage: (Message) -> Outcome?,
): Device =
  Device(
    options,
    store,
    object : Listener {
      override fun onMessage(message: Message): Outcome? = onMessage(message)

      override fun onReport(report: Report) = onReport(report)
    },
  )

/** Makes a device of the server at an address. */
fun device(
  url: String,
  store: Store,
  options: Options.() -> Unit = {},
  onReport: (Report) -> Unit = {},
  onMessage: (Message) -> Outcome?,
): Device = device(Options(url).apply(options), store, onReport, onMessage)

/** Makes a handler of one that returns nothing: its message is acknowledged as is usual. */
fun showing(handle: (Message) -> Unit): (Message) -> Outcome? = { message ->
  handle(message)
  null
}
