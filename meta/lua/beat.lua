-- beat notes that a writer lives. Its count goes back only when Redis lost writes.
-- uses: pack clock
-- KEYS: writers. ARGV: writer, "1" when it retires. Returns {OK, count}.
local value = redis.call("HGET", KEYS[1], ARGV[1]) or "0"
local count = tonumber(string.match(value, "^%d+")) + 1
redis.call("HSET", KEYS[1], ARGV[1], dec(count) .. " " .. dec(now()) .. " " .. ARGV[2])
return {"OK", dec(count)}
