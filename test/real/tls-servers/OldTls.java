import java.io.FileInputStream;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.security.KeyStore;
import java.security.Security;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;

/**
 * TLS servers with everything that Java disables by default. The arguments are a key store, and for each server its port, protocols, and
 * cipher suites. Each connection is closed after its handshake.
 */
public class OldTls {
  public static void main(String[] arguments) throws Exception {
    for (String setting : new String[] {"jdk.tls.disabledAlgorithms", "jdk.tls.legacyAlgorithms", "jdk.certpath.disabledAlgorithms"})
      Security.setProperty(setting, "");
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream file = new FileInputStream(arguments[0])) {
      store.load(file, "changeme".toCharArray());
    }
    KeyManagerFactory keys = KeyManagerFactory.getInstance("SunX509");
    keys.init(store, "changeme".toCharArray());
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keys.getKeyManagers(), null, null);
    for (int at = 1; at < arguments.length; at += 3) {
      SSLServerSocket server =
          (SSLServerSocket) context.getServerSocketFactory()
              .createServerSocket(Integer.parseInt(arguments[at]), 50, InetAddress.getByName("127.0.0.1"));
      server.setEnabledProtocols(arguments[at + 1].split(","));
      server.setEnabledCipherSuites(
          arguments[at + 2].equals("all") ? server.getSupportedCipherSuites() : arguments[at + 2].split(","));
      new Thread(() -> serve(server)).start();
    }
  }

  private static void serve(SSLServerSocket server) {
    while (true) {
      try {
        Socket socket = server.accept();
        new Thread(() -> answer(socket)).start();
      } catch (Exception ignored) {
        // Other connections are still served.
      }
    }
  }

  private static void answer(Socket socket) {
    try (socket) {
      socket.setSoTimeout(8000);
      socket.getInputStream().read();
    } catch (Exception ignored) {
      // The client has gone, or the handshake failed.
    }
  }
}
