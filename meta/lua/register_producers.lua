-- register_producers notes that a producer group has transactions, or had some.
-- KEYS: state, producers. ARGV: name, time. Returns {OK} | RECOVERING.
if redis.call("HGET", KEYS[1], "phase") ~= "ready" then
  return {"RECOVERING"}
end
redis.call("ZADD", KEYS[2], ARGV[2], ARGV[1])
return {"OK"}
