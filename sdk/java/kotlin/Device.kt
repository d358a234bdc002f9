package org.gatepost.device

/** Makes a device whose handler is a lambda; null acknowledges as is usual. See [Listener]. */
fun device(
  url: String,
  store: Store,
  options: Options.() -> Unit = {},
  onState: (State, String) -> Unit = { _, _ -> },
  onMessage: (Message) -> Outcome?,
): Device =
  Device(
    Options(url).apply(options),
    store,
    object : Listener {
      override fun onMessage(message: Message): Outcome? = onMessage(message)

      override fun onState(state: State, detail: String) = onState(state, detail)
    },
  )
