// A small XML parser: elements with attributes and text, nested up to DEPTH, in symbolic characters.
import org.sosy_lab.sv_benchmarks.Verifier;

public class NanoXML {
    static final int DEPTH = 4;
    final byte[] text;
    int at;

    NanoXML(byte[] text) {
        this.text = text;
    }

    static boolean isName(byte c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == ':';
    }

    void skipSpace() {
        while (text[at] == ' ' || text[at] == '\n') at++;
    }

    int name() {
        int from = at;
        if (text[at] >= '0' && text[at] <= '9') return 0;
        while (isName(text[at])) at++;
        return at - from;
    }

    boolean attribute() {
        if (name() == 0) return false;
        skipSpace();
        if (text[at++] != '=') return false;
        skipSpace();
        byte quote = text[at++];
        if (quote != '"' && quote != '\'') return false;
        while (text[at] != quote) {
            if (text[at] == 0 || text[at] == '<') return false;
            at++;
        }
        at++;
        return true;
    }

    boolean element(int depth) {
        if (depth == DEPTH || text[at++] != '<') return false;
        int from = at, length = name();
        if (length == 0) return false;
        for (;;) {
            skipSpace();
            if (text[at] == '/') {
                if (text[at + 1] != '>') return false;
                at += 2;
                return true;
            }
            if (text[at] == '>') break;
            if (!attribute()) return false;
        }
        at++;
        for (;;) {
            if (text[at] == 0) return false;
            if (text[at] != '<') {
                at++;
                continue;
            }
            if (text[at + 1] != '/') {
                if (!element(depth + 1)) return false;
                continue;
            }
            at += 2;
            for (int i = 0; i < length; i++)
                if (text[at++] != text[from + i]) return false;
            skipSpace();
            return text[at++] == '>';
        }
    }

    public static void main(String[] arguments) {
        int size = Integer.parseInt(arguments[0]);
        byte[] text = new byte[size + 1];
        for (int i = 0; i < size; i++) text[i] = Verifier.nondetByte();
        NanoXML parser = new NanoXML(text);
        parser.skipSpace();
        parser.element(0);
    }
}
