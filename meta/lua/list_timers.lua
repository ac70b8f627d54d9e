-- list_timers lists the delayed messages of a topic, first those that are due first.
-- uses: pack clock topicstate
-- KEYS: head, due, timers. ARGV: the earliest due, how many of those with it to
--   leave out, most.
-- Returns {OK, now, {id, what it points to or false, …}} | NO_TOPIC | RECOVERING.
local state = redis.call("HGET", KEYS[1], "state")
if refuse(state) then
  return refuse(state)
end
local ids, list = redis.call("ZRANGEBYSCORE", KEYS[2], ARGV[1], "+inf", "LIMIT", ARGV[2], ARGV[3]), {}
for i, pointer in ipairs(many("HMGET", KEYS[3], ids)) do
  list[2 * i - 1], list[2 * i] = ids[i], pointer
end
return {"OK", dec(now()), list}
