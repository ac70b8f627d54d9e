-- hold_transactions makes those of a producer group answer RECOVERING until they
-- are restored. KEYS: transactions. ARGV: term. Returns {OK} | FENCED.
local term = redis.call("HGET", KEYS[1], "term")
if term and tonumber(term) > tonumber(ARGV[1]) then
  return {"FENCED"}
end
redis.call("HSET", KEYS[1], "state", "restoring", "term", ARGV[1])
return {"OK"}
