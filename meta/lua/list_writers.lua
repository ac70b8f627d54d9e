-- list_writers reads the registry and the clock that its beats are told by.
-- uses: pack clock
-- KEYS: writers. Returns {OK, now, {writer, value, …}}.
return {"OK", dec(now()), redis.call("HGETALL", KEYS[1])}
