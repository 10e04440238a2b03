// Standard input and `Scanner`, the arguments of the program, the current thread.
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.Scanner;

public class Reading {
    public static void main(String[] arguments) throws IOException, InterruptedException {
        BufferedReader reader = new BufferedReader(new InputStreamReader(System.in));
        System.out.println(reader.readLine() + "|" + reader.readLine() + "|" + reader.readLine());
        Scanner scanner = new Scanner("12 abc 3.5\nline two\n");
        System.out.println(scanner.nextInt() + scanner.next() + scanner.nextDouble() + scanner.nextLine());
        System.out.println(scanner.nextLine() + scanner.hasNextLine());
        Thread.sleep(1);
        System.out.println(Thread.currentThread().getName());
        System.out.println(arguments.length + arguments[1] + Integer.parseInt(arguments[0]));
    }
}
