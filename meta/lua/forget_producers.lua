-- forget_producers takes a producer group off the list that began nothing since a
-- time. The caller has seen that it has no transactions.
-- KEYS: producers. ARGV: name, time. Returns {OK}.
local last = redis.call("ZSCORE", KEYS[1], ARGV[1])
if last and tonumber(last) < tonumber(ARGV[2]) then
  redis.call("ZREM", KEYS[1], ARGV[1])
end
return {"OK"}
