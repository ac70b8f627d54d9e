-- commit makes the blocks that a segment holds of one topic readable, at most
-- once. Every check comes before the first write; the first write is one that
-- Redis refuses when out of memory; no write after it can fail.
-- uses: pack clock topicstate identity remember plan receipts arm
-- KEYS: head, writers, receipts of the writer, hot list per queue, identity keys, [due, timers, halves].
-- ARGV: channel, epoch, writer, seq, queues, identity keys, requests, ttl of
--   receipts, of idempotency keys, of producers; per queue: number, known next;
--   per identity key: kind; per request: key, kind, a, b, answer's beginning; per queue: its runs; [timers].
-- Returns {OK, receipt, 0 or 1 when repeated} | NO_TOPIC | RECOVERING |
--   {EPOCH, current} | ROLLED_BACK | APPLIED | FULL | CORRUPT.
local head, channel, epoch, writer, seq = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local nq, nk, nr = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local at, fields = 11, {"epoch", "state"}
for i = 1, nq do fields[i + 2] = ARGV[at + 2 * i - 2] end
local h = many("HMGET", head, fields)
if refuse(h[2]) then return refuse(h[2]) end
if h[1] ~= epoch then return {"EPOCH", h[1]} end
local queues, stored = {}, now()
for i = 1, nq do
  local n, m, b, s = unhead(h[i + 2])
  if not s then return {"CORRUPT"} end
  if n < tonumber(ARGV[at + 2 * i - 1]) then return {"ROLLED_BACK"} end
  queues[i] = {name = fields[i + 2], first = n, next = n, min = m, bytes = b, entries = {}}
  stored = math.max(stored, s)
end
local last, lines = redis.call("HGET", KEYS[2], writer), redis.call("GET", KEYS[3])
if last and tonumber(last) >= tonumber(seq) then
  local line = receipt(lines, seq, epoch)
  return line and {"OK", line, 1} or {"APPLIED"}
end
at = at + 2 * nq
local kinds, line = {}, {seq, epoch, dec(stored), "-"}
for i = 1, nk do kinds[i] = ARGV[at + i - 1] end
local known, judged = recall(4 + nq, nk, kinds)
judged, at = judge(at + nk, nr, known)
local news, heads, firsts = {be(tonumber(epoch))}, {}, {}
for i, q in ipairs(queues) do
  local tail = redis.call("LINDEX", KEYS[3 + i], -1)
  if (tail and nextof(tail) or q.min) ~= q.first then return {"CORRUPT"} end
  at = layout(at, q, judged, string.sub(be(stored), 2))
  if q.next >= 9007199254740992 then return {"FULL"} end
  firsts[i] = dec(q.first)
  if q.next > q.first then
    heads[#heads + 1] = q.name
    heads[#heads + 1] = tohead(q.next, q.min, q.bytes, stored)
  end
  local number = string.sub(be(tonumber(q.name)), 4)
  for _, e in ipairs(q.entries) do news[#news + 1] = number .. char(#e) .. e end
end
if #firsts > 0 then line[4] = table.concat(firsts, ",") end
exceptions(line, judged)
line = table.concat(line, " ")
for i, q in ipairs(queues) do many("RPUSH", KEYS[3 + i], q.entries) end
many("HSET", head, heads)
redis.call("HSET", KEYS[2], writer, seq)
redis.call("SET", KEYS[3], keep(lines, line), "PX", ARGV[8])
arm(at, judged.verdicts)
remember(4 + nq, known, judged, {k = ARGV[9], p = ARGV[10]})
if #news > 1 then redis.call("PUBLISH", channel, table.concat(news)) end
return {"OK", line, 0}
