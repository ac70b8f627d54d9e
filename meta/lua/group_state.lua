-- group_state reads everything a rebalance goes by, at one moment.
-- uses: pack clock group
-- KEYS: meta, members, beats, assignments, refused.
-- Returns {OK, json, generation, revision, term, reason, assigned at, standby ids,
--   now, members, beats, assignments, refused} | NO_GROUP | RECOVERING.
local g = redis.call("HMGET", KEYS[1], "state", "json", "generation", "revision", "term", "reason", "assigned_at", "standby", "subs")
if refusegroup(g[1]) then
  return refusegroup(g[1])
end
return {
  "OK", g[2], g[3] or "0", g[4] or "0", g[5] or "0", g[6] or "", g[7] or "0", g[8] or "", dec(now()),
  redis.call("HGETALL", KEYS[2]), redis.call("HGETALL", KEYS[3]), redis.call("HGETALL", KEYS[4]),
  redis.call("LRANGE", KEYS[5], 0, -1), g[9] or "",
}
