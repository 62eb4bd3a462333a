// Esper with one statement for each subscription: select * from Trade(symbol = 'S1', price > 0.5), one thread.
// Arguments: statements, a file of limits (a price a line), a file of events (symbol and price). Prints: seconds of CPU
// of the best of four rounds, events, matches.

import com.espertech.esper.common.client.EPCompiled;
import com.espertech.esper.common.client.configuration.Configuration;
import com.espertech.esper.compiler.client.CompilerArguments;
import com.espertech.esper.compiler.client.EPCompilerProvider;
import com.espertech.esper.runtime.client.DeploymentOptions;
import com.espertech.esper.runtime.client.EPRuntime;
import com.espertech.esper.runtime.client.EPRuntimeProvider;
import com.espertech.esper.runtime.client.EPStatement;
import com.espertech.esper.runtime.client.UpdateListener;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

public final class EsperFilters {
    public static final class Trade {
        private final String symbol;
        private final double price;

        public Trade(String symbol, double price) {
            this.symbol = symbol;
            this.price = price;
        }

        public String getSymbol() {
            return symbol;
        }

        public double getPrice() {
            return price;
        }
    }

    private static final int SYMBOLS = 10_000;
    private static long matches = 0;

    public static void main(String[] arguments) throws Exception {
        int statements = Integer.parseInt(arguments[0]);
        List<String> limits = Files.readAllLines(Path.of(arguments[1]));
        Configuration configuration = new Configuration();
        configuration.getCommon().addEventType("Trade", Trade.class);
        configuration.getRuntime().getThreading().setInternalTimerEnabled(false);
        EPRuntime runtime = EPRuntimeProvider.getDefaultRuntime(configuration);
        runtime.initialize();
        UpdateListener listener = (arrived, gone, statement, of) -> matches += arrived.length;
        // Compiled once and deployed with other constants: to compile ten thousand statements takes many minutes.
        EPCompiled compiled = EPCompilerProvider.getCompiler().compile(
                "select * from Trade(symbol = ?:symbol:string, price > ?:price:double)",
                new CompilerArguments(configuration));
        for (int number = 0; number < statements; number++) {
            String symbol = "S" + number % SYMBOLS;
            double price = Double.parseDouble(limits.get(number));
            DeploymentOptions options = new DeploymentOptions();
            options.setStatementSubstitutionParameter(given -> {
                given.setObject("symbol", symbol);
                given.setObject("price", price);
            });
            for (EPStatement statement : runtime.getDeploymentService().deploy(compiled, options).getStatements()) {
                statement.addListener(listener);
            }
        }
        String[] symbols = new String[SYMBOLS];
        for (int number = 0; number < SYMBOLS; number++) {
            symbols[number] = "S" + number;
        }
        ByteBuffer given = ByteBuffer.wrap(Files.readAllBytes(Path.of(arguments[2]))).order(ByteOrder.LITTLE_ENDIAN);
        int events = given.remaining() / 12;
        Trade[] trades = new Trade[events];
        for (int number = 0; number < events; number++) {
            trades[number] = new Trade(symbols[given.getInt()], given.getDouble());
        }
        double best = Double.MAX_VALUE;
        for (int round = 0; round < 4; round++) {
            matches = 0;
            long start = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
            for (Trade trade : trades) {
                runtime.getEventService().sendEventBean(trade, "Trade");
            }
            best = Math.min(best, (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - start) / 1e9);
        }
        System.out.println(best + " " + events + " " + matches);
        System.exit(0);
    }
}
