// Runs an entry method in a virtual machine with the values of a test, and reports how it ends: the last line on standard
// error has the classes of an exception, from its own to Throwable.
package partita;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;

public final class Replay {
    private Replay() {}

    public static void main(String[] arguments) throws Exception {
        Throwable thrown = null;
        try {
            call(arguments[0], arguments[1], arguments[2], Arrays.copyOfRange(arguments, 3, arguments.length));
        } catch (InvocationTargetException error) {
            thrown = error.getCause();
        } catch (ExceptionInInitializerError error) {
            thrown = error;
        }
        System.out.flush();
        if (thrown == null) {
            System.err.println("partita: ended");
            return;
        }
        StringBuilder line = new StringBuilder("partita: threw");
        for (Class<?> kind = thrown.getClass(); kind != Object.class; kind = kind.getSuperclass()) {
            line.append(' ').append(kind.getName());
        }
        System.err.println(line);
        System.exit(1);
    }

    private static void call(String owner, String name, String types, String[] words) throws Exception {
        for (Method method : Class.forName(owner).getDeclaredMethods()) {
            if (!method.getName().equals(name) || !describe(method).equals(types)) {
                continue;
            }
            method.setAccessible(true);
            Object receiver = null;
            if (!Modifier.isStatic(method.getModifiers())) {
                Constructor<?> constructor = Class.forName(owner).getDeclaredConstructor();
                constructor.setAccessible(true);
                receiver = constructor.newInstance();
            }
            Class<?>[] wanted = method.getParameterTypes();
            Object[] values = new Object[wanted.length];
            for (int i = 0; i < values.length; i++) {
                values[i] = value(wanted[i], words);
            }
            method.invoke(receiver, values);
            return;
        }
        throw new IllegalArgumentException("no method " + name + types);
    }

    private static String describe(Method method) {
        StringBuilder text = new StringBuilder("(");
        for (Class<?> kind : method.getParameterTypes()) {
            text.append(java.lang.reflect.Array.newInstance(kind, 0).getClass().getName().substring(1).replace('.', '/'));
        }
        return text.append(')').toString();
    }

    private static Object value(Class<?> kind, String[] words) {
        if (kind == String[].class) {
            return words;
        }
        switch (kind.getName()) {
            case "boolean":
                return Inputs.nextBoolean();
            case "byte":
                return Inputs.nextByte();
            case "char":
                return Inputs.nextChar();
            case "short":
                return Inputs.nextShort();
            case "int":
                return Inputs.nextInt();
            case "long":
                return Inputs.nextLong();
            case "float":
                return Inputs.nextFloat();
            case "double":
                return Inputs.nextDouble();
            default:
                return Inputs.nextString();
        }
    }
}
