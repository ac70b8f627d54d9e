-- hold_group makes a group answer RECOVERING until it is restored.
-- KEYS: meta. ARGV: term of the recovery. Returns {OK} | FENCED.
local term = redis.call("HGET", KEYS[1], "restore_term")
if term and tonumber(term) > tonumber(ARGV[1]) then
  return {"FENCED"}
end
redis.call("HSET", KEYS[1], "state", "restoring", "restore_term", ARGV[1])
return {"OK"}
