-- place_halves makes half messages readable, each at most once: their
-- transaction is committed. Where one went stays under its id, as
-- "P" epoch blank queue.first.count, until it is dropped. News as in fire.lua.
-- uses: pack clock topicstate plan
-- KEYS: head, halves, fired, hot list per queue. ARGV: channel, epoch, queues,
--   halves, numbers of the queues, ids of the halves; per queue: its runs
--   (plan.lua), in which a half is a request.
-- Returns {OK, news, {what is under each id, or ""}} | NO_TOPIC | RECOVERING |
--   {EPOCH, current} | FULL | CORRUPT.
local head, epoch, nq, nt = KEYS[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local fields, ids = {"epoch", "state"}, {}
for i = 1, nq do fields[i + 2] = ARGV[4 + i] end
for i = 1, nt do ids[i] = ARGV[4 + nq + i] end
local h = many("HMGET", head, fields)
if refuse(h[2]) then return refuse(h[2]) end
if h[1] ~= epoch then return {"EPOCH", h[1]} end
local judged, under = {verdicts = {}, parts = {}}, {}
for i, value in ipairs(many("HMGET", KEYS[2], ids)) do
  under[i] = value or ""
  if value and byte(value, 1) == 0 then
    judged.verdicts[i], judged.parts[i] = "S", {}
  end
end
local queues, stored, at = {}, now(), 5 + nq + nt
for i = 1, nq do
  local n, m, b, s = unhead(h[i + 2])
  local tail = redis.call("LINDEX", KEYS[3 + i], -1)
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
local kept, placed = {}, {}
for i, part in pairs(judged.parts) do
  under[i] = "P" .. epoch .. " " .. part[1]
  placed[#placed + 1], placed[#placed + 2] = ids[i], under[i]
end
for i, one in ipairs(news) do kept[i] = begin .. one end
for i, q in ipairs(queues) do many("RPUSH", KEYS[3 + i], q.entries) end
many("HSET", head, heads)
many("HSET", KEYS[2], placed)
many("RPUSH", KEYS[3], kept)
if #news > 0 then redis.call("PUBLISH", ARGV[1], begin .. table.concat(news)) end
return {"OK", begin .. table.concat(news), under}
