-- time reads the clock of the node that holds the shared state.
-- uses: pack clock
-- KEYS: state. Returns {OK, milliseconds}.
return {"OK", dec(now())}
