-- begin_recovery opens a new generation under the recovery lease.
-- uses: pack clock lease
-- KEYS: state, lease. ARGV: store id, holder, generation the caller found
--   wanting, new generation, ttl in ms, what the servers call themselves.
-- Returns {OK, term} | HELD (by another, or recovered already) | MISMATCH.
local state = redis.call("HMGET", KEYS[1], "store", "generation", "phase")
if state[1] and state[1] ~= ARGV[1] then
  return {"MISMATCH"}
end
if state[3] == "ready" and state[2] ~= ARGV[3] then
  return {"HELD"}
end
local term = take(KEYS[2], ARGV[2], ARGV[5])
if not term then
  return {"HELD"}
end
redis.call("HSET", KEYS[1], "store", ARGV[1], "generation", ARGV[4], "phase", "recovering", "server", ARGV[6])
return {"OK", term}
