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
-- One range for all: the embedded server sorts the whole set for each.
local time, list, ids = now(), {}, {}
local first = redis.call("ZRANGE", KEYS[2], "0", ARGV[1], "WITHSCORES")
while #ids < tonumber(ARGV[1]) and first[2 * #ids + 2] and tonumber(first[2 * #ids + 2]) <= time do
  ids[#ids + 1] = first[2 * #ids + 1]
end
for i, pointer in ipairs(many("HMGET", KEYS[3], ids)) do
  list[2 * i - 1], list[2 * i] = ids[i], pointer
end
local following = first[2 * #ids + 2]
return {"OK", dec(time), h[2], following and dec(tonumber(following)) or "-", list}
