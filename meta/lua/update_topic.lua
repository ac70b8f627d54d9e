-- update_topic replaces the state of a topic if nobody changed it in between.
-- Deleting is an update too: the head keeps the epoch and says deleted, so that
-- a late commit is refused.
-- KEYS: meta, head. ARGV: expected version, json, version, queues, live or
--   deleted, channel of changes, name.
-- Returns {OK} | NO_TOPIC | RECOVERING | {CONFLICT, json} | SHRINK.
-- uses: topicstate
local h = redis.call("HMGET", KEYS[2], "state", "epoch", "term")
local meta = redis.call("HMGET", KEYS[1], "json", "version", "queues")
if refuse(h[1]) then
  return refuse(h[1])
end
if meta[2] ~= ARGV[1] then
  return {"CONFLICT", meta[1]}
end
if tonumber(ARGV[4]) < tonumber(meta[3]) then
  return {"SHRINK"}
end
redis.call("HSET", KEYS[1], "json", ARGV[2], "version", ARGV[3], "queues", ARGV[4])
if ARGV[5] == "deleted" then
  redis.call("DEL", KEYS[2])
  redis.call("HSET", KEYS[2], "state", "deleted", "epoch", h[2], "term", h[3] or "0")
end
redis.call("PUBLISH", ARGV[6], ARGV[7])
return {"OK"}
