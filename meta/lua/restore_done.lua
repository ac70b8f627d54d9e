-- restore_done puts the heads of a restored topic in place and opens it again;
-- repeating it after that changes nothing.
-- uses: pack topicstate
-- KEYS: meta, head. ARGV: term, json, version, queues, epoch, live or deleted,
--   channel of changes, name, then queue, head, …
-- Returns {OK} | FENCED.
local meta, head, term = KEYS[1], KEYS[2], ARGV[1]
if fenced(head, term) then
  local h = redis.call("HMGET", head, "state", "term")
  if h[2] == term and h[1] == ARGV[6] and redis.call("HGET", meta, "json") == ARGV[2] then
    return {"OK"}
  end
  return {"FENCED"}
end
local heads = {"epoch", ARGV[5], "state", ARGV[6], "term", term}
for i = 9, #ARGV do
  heads[#heads + 1] = ARGV[i]
end
redis.call("HSET", meta, "json", ARGV[2], "version", ARGV[3], "queues", ARGV[4])
redis.call("DEL", head)
many("HSET", head, heads)
redis.call("PUBLISH", ARGV[7], ARGV[8])
return {"OK"}
