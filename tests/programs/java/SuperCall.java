// EXPECT: true
public class SuperCall {
    static class A {
        int f(int x) {
            return x + 10;
        }
    }

    static class B extends A {
        @Override
        int f(int x) {
            return super.f(x);
        }
    }

    public static void main(String[] arguments) {
        B b = new B();
        assert b.f(3) == 13;
    }
}
