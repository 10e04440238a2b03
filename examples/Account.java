// An account with a planted bug: a fee can take a balance below zero although every withdrawal is checked.
//
//   partita run examples/Account.java
//   partita replay examples/Account.java partita-last
import partita.Symbolic;

public class Account {
    private static final int FEE = 2;
    private int balance;

    Account(int balance) {
        this.balance = balance;
    }

    void withdraw(int amount) {
        if (amount <= 0 || amount > balance) {
            throw new IllegalArgumentException("amount");
        }
        balance -= amount;
        if (amount > 100) {
            balance -= FEE;
        }
        assert balance >= 0 : "overdrawn";
    }

    public static void main(String[] arguments) {
        Account account = new Account(250);
        int total = 0;
        for (String name : new String[] {"first", "second"}) {
            int amount = Symbolic.makeInt(name);
            try {
                account.withdraw(amount);
                total += amount;
            } catch (IllegalArgumentException refused) {
                System.out.println("refused: " + amount);
            }
        }
        System.out.println("withdrawn: " + total);
    }
}
