-- create_group writes the state of a new group unless its id has one already.
-- KEYS: meta. ARGV: json, version, channel of group changes, notice.
-- Returns {CREATED} | {EXISTS, json of what is there}.
local current = redis.call("HGET", KEYS[1], "json")
if current then
  return {"EXISTS", current}
end
redis.call("HSET", KEYS[1], "json", ARGV[1], "version", ARGV[2], "state", "live", "revision", "1", "generation", "0")
redis.call("PUBLISH", ARGV[3], ARGV[4])
return {"CREATED"}
