import java.io.File
import kotlinx.coroutines.delay
import kotlinx.coroutines.runBlocking
import org.gatepost.device.FileStore
import org.gatepost.device.device
import org.gatepost.device.run
import org.gatepost.device.suspending

/** A phone in the terminal, by coroutines: SampleKt https://HOST LINK DOMAIN_HASH */
fun main(args: Array<String>) = runBlocking {
  val (url, link, domainHash) = args
  val device =
    device(
      url,
      FileStore(File("device.json")),
      options = {
        register("os", "linux")
        register("install_code", link)
        register("domain_hash", domainHash)
        streams()
      },
      onReport = { report -> println("$report ${report.text}") },
      onMessage =
        suspending { message ->
          delay(1)
          println(if (message.action == "") message.plain else message.action)
          null
        },
    )
  println("ended: ${device.run()}")
}
