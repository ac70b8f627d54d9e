-- restore_group opens a group that was held. Members join anew; generation and
-- revision go on from what is there, and what was in flight is dropped.
-- uses: pack clock
-- KEYS: meta, settings. ARGV: term, json, version, channel of group changes,
--   notice; per topic with settings: its id, json. Returns {OK} | FENCED.
local h = redis.call("HMGET", KEYS[1], "state", "restore_term", "generation", "revision", "term")
if h[1] ~= "restoring" or h[2] ~= ARGV[1] then
  return {"FENCED"}
end
redis.call("DEL", KEYS[1])
redis.call("HSET", KEYS[1], "json", ARGV[2], "version", ARGV[3], "state", "live", "restore_term", ARGV[1],
  "generation", h[3] or "0", "revision", dec(tonumber(h[4] or "0") + 1), "term", h[5] or "0", "restored", ARGV[1] .. "." .. dec(now()))
for i = 6, #ARGV, 2 do
  redis.call("HSET", KEYS[2], ARGV[i], ARGV[i + 1])
end
redis.call("PUBLISH", ARGV[4], ARGV[5])
return {"OK"}
