// Symbolic input under the names of SV-COMP. Partita replaces these methods; in a virtual machine they return the values
// of a test (partita.Inputs).
package org.sosy_lab.sv_benchmarks;

import partita.Inputs;

public final class Verifier {
    private Verifier() {}

    public static void assume(boolean condition) {
        Inputs.assume(condition);
    }

    public static boolean nondetBoolean() {
        return Inputs.nextBoolean();
    }

    public static byte nondetByte() {
        return Inputs.nextByte();
    }

    public static char nondetChar() {
        return Inputs.nextChar();
    }

    public static short nondetShort() {
        return Inputs.nextShort();
    }

    public static int nondetInt() {
        return Inputs.nextInt();
    }

    public static long nondetLong() {
        return Inputs.nextLong();
    }

    public static float nondetFloat() {
        return Inputs.nextFloat();
    }

    public static double nondetDouble() {
        return Inputs.nextDouble();
    }

    public static String nondetString() {
        return Inputs.nextString();
    }
}
