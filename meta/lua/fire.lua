-- fire makes delayed messages readable that are due, each at most once: those
-- that are put down no more, or are not due, are left out. The news stay in a
-- list until they are in the log.
-- uses: pack clock topicstate plan
-- KEYS: head, due, timers, fired, hot list per queue. ARGV: channel, epoch,
--   queues, timers, numbers of the queues, ids of the timers; per queue: its runs
--   (plan.lua), in which a timer is a request.
-- Returns {OK, news} | NO_TOPIC | RECOVERING | {EPOCH, current} | FULL | CORRUPT.
local head, epoch, nq, nt = KEYS[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local fields, ids, gone = {"epoch", "state"}, {}, {}
for i = 1, nq do fields[i + 2] = ARGV[4 + i] end
for i = 1, nt do ids[i] = ARGV[4 + nq + i] end
local h = many("HMGET", head, fields)
if refuse(h[2]) then return refuse(h[2]) end
if h[1] ~= epoch then return {"EPOCH", h[1]} end
local time, judged = now(), {verdicts = {}, parts = {}}
for i, pointer in ipairs(many("HMGET", KEYS[3], ids)) do
  if pointer and nextof(pointer) <= time then
    judged.verdicts[i], judged.parts[i] = "S", {}
  end
  if not pointer or judged.verdicts[i] then gone[#gone + 1] = ids[i] end
end
local queues, stored, at = {}, time, 5 + nq + nt
for i = 1, nq do
  local n, m, b, s = unhead(h[i + 2])
  local tail = redis.call("LINDEX", KEYS[4 + i], -1)
  if not s or (tail and nextof(tail) or m) ~= n then return {"CORRUPT"} end
  queues[i] = {name = fields[i + 2], next = n, min = m, bytes = b, entries = {}}
  stored = math.max(stored, s)
end
local news, heads, begin = {}, {}, be(tonumber(epoch))
for _, q in ipairs(queues) do
  at = layout(at, q, judged, string.sub(be(stored), 2))
  if q.next >= 9007199254740992 then return {"FULL"} end
  local number = string.sub(be(tonumber(q.name)), 4)
  for _, e in ipairs(q.entries) do news[#news + 1] = number .. char(#e) .. e end
  if #q.entries > 0 then
    heads[#heads + 1], heads[#heads + 2] = q.name, tohead(q.next, q.min, q.bytes, stored)
  end
end
for i, q in ipairs(queues) do many("RPUSH", KEYS[4 + i], q.entries) end
many("HSET", head, heads)
many("ZREM", KEYS[2], gone)
many("HDEL", KEYS[3], gone)
local kept = {}
for i, one in ipairs(news) do kept[i] = begin .. one end
many("RPUSH", KEYS[4], kept)
if #news > 0 then redis.call("PUBLISH", ARGV[1], begin .. table.concat(news)) end
return {"OK", begin .. table.concat(news)}
