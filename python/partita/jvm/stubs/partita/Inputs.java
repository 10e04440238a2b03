// Values of a test in a virtual machine: a file of objects, each a count of bytes and the bytes, named by the system
// property `partita.inputs`.
package partita;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Arrays;

public final class Inputs {
    private static ByteBuffer rest;

    private Inputs() {}

    /** Sets the values of a test, as hexadecimal digits. */
    public static void set(String digits) {
        byte[] data = new byte[digits.length() / 2];
        for (int i = 0; i < data.length; i++) {
            data[i] = (byte) Integer.parseInt(digits.substring(2 * i, 2 * i + 2), 16);
        }
        rest = ByteBuffer.wrap(data);
    }

    private static byte[] next(int size) {
        if (rest == null) {
            try {
                rest = ByteBuffer.wrap(Files.readAllBytes(Paths.get(System.getProperty("partita.inputs"))));
            } catch (IOException | RuntimeException error) {
                diverge("no inputs: " + error);
            }
        }
        if (rest.remaining() < 4) {
            diverge("more inputs are read than the test has");
        }
        int count = rest.getInt();
        byte[] data = new byte[count];
        rest.get(data);
        if (size >= 0 && count != size) {
            diverge("an input of " + size + " bytes is read where the test has " + count);
        }
        return data;
    }

    private static void diverge(String why) {
        System.err.println("partita: diverged: " + why);
        Runtime.getRuntime().halt(113);
    }

    private static ByteBuffer buffer(int size) {
        return ByteBuffer.wrap(next(size)).order(ByteOrder.LITTLE_ENDIAN);
    }

    public static void assume(boolean condition) {
        if (!condition) {
            diverge("an assumption does not hold");
        }
    }

    public static boolean nextBoolean() {
        return (next(1)[0] & 1) != 0;
    }

    public static byte nextByte() {
        return next(1)[0];
    }

    public static char nextChar() {
        return buffer(2).getChar();
    }

    public static short nextShort() {
        return buffer(2).getShort();
    }

    public static int nextInt() {
        return buffer(4).getInt();
    }

    public static long nextLong() {
        return buffer(8).getLong();
    }

    public static float nextFloat() {
        return Float.intBitsToFloat(buffer(4).getInt());
    }

    public static double nextDouble() {
        return Double.longBitsToDouble(buffer(8).getLong());
    }

    public static String nextString() {
        int length = nextInt();
        byte[] data = length == 0 && rest.remaining() == 0 ? new byte[0] : next(-1);
        return new String(Arrays.copyOf(data, length), StandardCharsets.ISO_8859_1);
    }
}
