// Symbolic input under the names of Symbolic PathFinder. Partita replaces these methods; in a virtual machine they return
// the values of a test (partita.Inputs).
package gov.nasa.jpf.symbc;

import partita.Inputs;

public final class Debug {
    private Debug() {}

    public static void assume(boolean condition) {
        Inputs.assume(condition);
    }

    public static boolean makeSymbolicBoolean(String name) {
        return Inputs.nextBoolean();
    }

    public static byte makeSymbolicByte(String name) {
        return Inputs.nextByte();
    }

    public static char makeSymbolicChar(String name) {
        return Inputs.nextChar();
    }

    public static short makeSymbolicShort(String name) {
        return Inputs.nextShort();
    }

    public static int makeSymbolicInteger(String name) {
        return Inputs.nextInt();
    }

    public static long makeSymbolicLong(String name) {
        return Inputs.nextLong();
    }

    public static float makeSymbolicFloat(String name) {
        return Inputs.nextFloat();
    }

    public static double makeSymbolicReal(String name) {
        return Inputs.nextDouble();
    }

    public static String makeSymbolicString(String name) {
        return Inputs.nextString();
    }

    public static String makeSymbolicString(String name, int length) {
        return Inputs.nextString();
    }

    public static void printPC(String message) {}
}
