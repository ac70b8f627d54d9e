-- join makes a client a member of a group, or finds its membership again.
-- uses: pack clock group offset member
-- KEYS: meta, members, beats, clients, fenced, refused, topics, then hashes of
--   offsets. ARGV: member id, client id, key, kind, json of the member, its
--   subscriptions, session timeout in ms, how long a fenced id is known in ms,
--   row for refused, channel of group changes, notice, ids of the topics separated
--   by blanks, starts (see begin).
-- Returns {OK, member id, 1 when found again, fenced id or "", start offsets written} |
--   NO_GROUP | RECOVERING | {UNLIKE, subscriptions} | {SHARED, ms to wait}.
local id, client, kind, subs, time = ARGV[1], ARGV[2], ARGV[4], ARGV[6], now()
local g = redis.call("HMGET", KEYS[1], "state", "subs", "alike_members", "shared_until", "revision")
if refusegroup(g[1]) then
  return refusegroup(g[1])
end
local old, mine = redis.call("HGET", KEYS[4], client), nil
if old then
  mine = cjson.decode(redis.call("HGET", KEYS[2], old))
end
local others = tonumber(g[3] or "0") - ((mine and mine.kind ~= "assign") and 1 or 0)
if kind ~= "assign" and others > 0 and g[2] ~= subs then
  redis.call("LPUSH", KEYS[6], ARGV[9])
  redis.call("LTRIM", KEYS[6], 0, 9)
  return {"UNLIKE", g[2]}
end
if (kind == "queue" or kind == "assign") and tonumber(g[4] or "0") > time then
  return {"SHARED", dec(tonumber(g[4]) - time)}
end
if mine and ARGV[3] ~= "" and mine.key == ARGV[3] and mine.kind == kind and cjson.encode(mine.subscriptions) == cjson.encode(cjson.decode(ARGV[5]).subscriptions) then
  beat(old, time, ARGV[7])
  local by = string.match(ARGV[5], connection)
  if mine.connection ~= by then -- the one before has to hear of it
    local text = redis.call("HGET", KEYS[2], old)
    redis.call("HSET", KEYS[2], old, (string.gsub(text, connection, '"connection":"' .. by .. '"', 1)))
    redis.call("PUBLISH", ARGV[10], ARGV[11])
  end
  return {"OK", old, 1, "", 0}
end
if mine then
  remove(old)
  redis.call("HSET", KEYS[5], old, dec(time + tonumber(ARGV[8])))
end
local joined = string.gsub(ARGV[5], '"joined_at":0', '"joined_at":' .. dec(time), 1)
redis.call("HSET", KEYS[2], id, joined)
redis.call("HSET", KEYS[4], client, id)
beat(id, time, ARGV[7])
count(kind, 1)
if kind ~= "assign" then
  redis.call("HSET", KEYS[1], "subs", subs)
end
redis.call("HINCRBY", KEYS[1], "revision", 1)
for topic in string.gmatch(ARGV[12], "%S+") do
  redis.call("SADD", KEYS[7], topic)
end
local written = begin(13, time, client)
redis.call("PUBLISH", ARGV[10], ARGV[11])
return {"OK", id, 0, old or "", written}
