-- heartbeat renews a membership and hands on the queues that the member gives back.
-- uses: pack clock group member
-- KEYS: meta, members, beats, clients, fenced, assignments. ARGV: member, session
--   timeout in ms, channel of group changes, notice, connection or "-"; per queue
--   given back: its field, assignment epoch.
-- Returns {OK, generation, standby ids, the member's queues: field, claim, …} |
--   NO_GROUP | RECOVERING | NO_MEMBER | TAKEN.
local id, time = ARGV[1], now()
local g = redis.call("HMGET", KEYS[1], "state", "generation", "standby")
if refusegroup(g[1]) then
  return refusegroup(g[1])
end
local refusal = stranger(KEYS[2], KEYS[5], id)
if refusal then
  return refusal
end
if elsewhere(KEYS[2], id, ARGV[5]) then
  return {"TAKEN"}
end
beat(id, time, ARGV[2])
local handed = false
for i = 6, #ARGV, 2 do
  local c = claim(redis.call("HGET", KEYS[6], ARGV[i]))
  if c and c.owner == id and c.epoch == ARGV[i + 1] and c.state == "revoking" then
    handed = true
    handon(KEYS[6], ARGV[i], c, time)
  end
end
if handed then
  redis.call("PUBLISH", ARGV[3], ARGV[4])
end
local mine, all = {}, redis.call("HGETALL", KEYS[6])
for i = 1, #all, 2 do
  if string.sub(all[i + 1], 1, #id) == id then
    mine[#mine + 1] = all[i]
    mine[#mine + 1] = all[i + 1]
  end
end
return {"OK", g[2], g[3] or "", mine}
