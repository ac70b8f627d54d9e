-- create_topic writes the state of a new topic unless its id has one already.
-- KEYS: meta, head. ARGV: json, version, queues, epoch, channel of changes, name.
-- Returns {CREATED} | {EXISTS, json of what is there}.
local current = redis.call("HGET", KEYS[1], "json")
if current then
  return {"EXISTS", current}
end
redis.call("HSET", KEYS[1], "json", ARGV[1], "version", ARGV[2], "queues", ARGV[3])
redis.call("DEL", KEYS[2])
redis.call("HSET", KEYS[2], "epoch", ARGV[4], "state", "live")
redis.call("PUBLISH", ARGV[5], ARGV[6])
return {"CREATED"}
