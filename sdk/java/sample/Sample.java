import java.io.File;
import java.util.Locale;
import org.gatepost.device.Device;
import org.gatepost.device.FileStore;
import org.gatepost.device.Listener;
import org.gatepost.device.Message;
import org.gatepost.device.Options;
import org.gatepost.device.Outcome;
import org.gatepost.device.Report;

/** A phone in the terminal: java -cp gatepost-device.jar:. Sample https://HOST LINK DOMAIN_HASH */
public final class Sample implements Listener {
  @Override
  public Outcome onMessage(Message message) {
    if (message.action.isEmpty()) System.out.println(message.title + "\n" + message.plain);
    else System.out.println(message.action + ": " + message.payload);
    return null;
  }

  @Override
  public void onReport(Report report) {
    String text = report.text.isEmpty() ? report.detail : report.text;
    System.out.println("(" + report.state + ") " + text);
    if (!report.freeUrl.isEmpty()) System.out.println("free a slot: " + report.freeUrl);
  }

  public static void main(String[] args) throws InterruptedException {
    Options options =
        new Options(args[0])
            .register("os", "linux")
            .register("install_code", args[1])
            .register("domain_hash", args[2])
            .streams()
            .locale(Locale.getDefault().toLanguageTag());
    Device device = new Device(options, new FileStore(new File("device.json")), new Sample());
    Runtime.getRuntime().addShutdownHook(new Thread(device::close));
    device.start();
    System.out.println("ended: " + device.await());
  }
}
