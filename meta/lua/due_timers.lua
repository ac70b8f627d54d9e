-- due_timers lists the delayed messages of a topic that are due, first those
-- that are due first.
-- uses: pack clock topicstate
-- KEYS: head, due, timers. ARGV: most.
-- Returns {OK, now, epoch, when the one after those listed is due or -, {id,
--   what it points to or false, …}} | NO_TOPIC | RECOVERING.
local h = redis.call("HMGET", KEYS[1], "state", "epoch")
if refuse(h[1]) then
  return refuse(h[1])
end
local time, list = now(), {}
local ids = redis.call("ZRANGEBYSCORE", KEYS[2], "-inf", dec(time), "LIMIT", "0", ARGV[1])
if #ids > 0 then
  local pointers = many("HMGET", KEYS[3], ids)
  for i, id in ipairs(ids) do
    list[2 * i - 1], list[2 * i] = id, pointers[i]
  end
end
local following = redis.call("ZRANGE", KEYS[2], #ids, #ids, "WITHSCORES")
return {"OK", dec(time), h[2], following[2] and dec(tonumber(following[2])) or "-", list}
