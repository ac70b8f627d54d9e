-- claim_name gives a free name to an id.
-- KEYS: state, topics, names. ARGV: name, id.
-- Returns {OK, id that has the name now} | RECOVERING.
if redis.call("HGET", KEYS[1], "phase") ~= "ready" then
  return {"RECOVERING"}
end
local current = redis.call("HGET", KEYS[2], ARGV[1])
if not current then
  current = ARGV[2]
  redis.call("HSET", KEYS[2], ARGV[1], current)
end
redis.call("ZADD", KEYS[3], 0, ARGV[1])
return {"OK", current}
