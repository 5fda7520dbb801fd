// Reads MB of a file, then computes for SECONDS: java Reader WAY FILE MB SECONDS.
import java.io.FileInputStream;

public class Reader {
    public static void main(String[] arguments) throws Exception {
        try (FileInputStream file = new FileInputStream(arguments[1])) {
            byte[] piece = new byte[1 << 20];
            for (int at = Integer.parseInt(arguments[2]); at > 0; at--) file.readNBytes(piece, 0, piece.length);
        }
        long end = System.nanoTime() + (long) (Double.parseDouble(arguments[3]) * 1e9);
        while (System.nanoTime() < end) { }
    }
}
