// Functions of mathematics whose last bit depends on the virtual machine.
public class Mathematics {
    public static void main(String[] arguments) {
        double[] values = {Math.sin(1), Math.cos(1), Math.tan(0.3), Math.log(10), Math.exp(1.5), Math.atan2(1, 2)};
        for (double value : values) System.out.println(Math.round(value * 1e9));
        System.out.println(Math.cbrt(27) + Math.pow(2, 10) + Math.hypot(3, 4) + Math.IEEEremainder(5, 3));
    }
}
