// Symbolic input with names. Partita replaces these methods; in a virtual machine they return the values of a test
// (partita.Inputs).
package partita;

public final class Symbolic {
    private Symbolic() {}

    public static void assume(boolean condition) {
        Inputs.assume(condition);
    }

    public static boolean makeBoolean(String name) {
        return Inputs.nextBoolean();
    }

    public static byte makeByte(String name) {
        return Inputs.nextByte();
    }

    public static char makeChar(String name) {
        return Inputs.nextChar();
    }

    public static short makeShort(String name) {
        return Inputs.nextShort();
    }

    public static int makeInt(String name) {
        return Inputs.nextInt();
    }

    public static long makeLong(String name) {
        return Inputs.nextLong();
    }

    public static float makeFloat(String name) {
        return Inputs.nextFloat();
    }

    public static double makeDouble(String name) {
        return Inputs.nextDouble();
    }

    public static String makeString(String name, int length) {
        return Inputs.nextString();
    }
}
