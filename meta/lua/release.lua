-- release ends a lease early; the term stays, so that the next one is larger.
-- KEYS: lease. ARGV: holder. Returns {OK}.
if redis.call("HGET", KEYS[1], "holder") == ARGV[1] then
  redis.call("HSET", KEYS[1], "holder", "", "until", "0")
end
return {"OK"}
