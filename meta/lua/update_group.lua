-- update_group replaces the state of a group if nobody changed it in between.
-- Deleting is an update too: the tombstone refuses what comes late.
-- uses: pack group
-- KEYS: meta, members. ARGV: expected version, json, version, live or deleted,
--   1 to delete it with live members, channel of group changes, notice.
-- Returns {OK} | NO_GROUP | RECOVERING | {CONFLICT, json} | ACTIVE.
local g = redis.call("HMGET", KEYS[1], "state", "version", "json", "revision")
if refusegroup(g[1]) then
  return refusegroup(g[1])
end
if g[2] ~= ARGV[1] then
  return {"CONFLICT", g[3]}
end
if ARGV[4] == "deleted" and ARGV[5] == "0" and redis.call("HLEN", KEYS[2]) > 0 then
  return {"ACTIVE"}
end
redis.call("HSET", KEYS[1], "json", ARGV[2], "version", ARGV[3], "state", ARGV[4], "revision", dec(tonumber(g[4]) + 1))
redis.call("PUBLISH", ARGV[6], ARGV[7])
return {"OK"}
