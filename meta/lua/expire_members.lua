-- expire_members removes members that were silent for too long, and ends
-- revocations whose time is up or whose owner is gone.
-- uses: pack clock group member
-- KEYS: meta, members, beats, clients, assignments, fenced. ARGV: term, channel
--   of group changes, notice of members, notice of assignments.
-- Returns {OK, removed ids} | NO_GROUP | RECOVERING | FENCED.
local time = now()
if refusegroup(redis.call("HGET", KEYS[1], "state")) then
  return refusegroup(redis.call("HGET", KEYS[1], "state"))
end
if oldterm(KEYS[1], ARGV[1]) then
  return {"FENCED"}
end
local gone, beats, handed = {}, redis.call("HGETALL", KEYS[3]), false
for i = 1, #beats, 2 do
  if tonumber(string.match(beats[i + 1], "^%d+")) < time then
    gone[#gone + 1] = beats[i]
    remove(beats[i])
  end
end
local all = redis.call("HGETALL", KEYS[5])
for i = 1, #all, 2 do
  local c = claim(all[i + 1])
  if c.state == "revoking" and (c.deadline <= time or redis.call("HEXISTS", KEYS[2], c.owner) == 0) then
    handed = true
    handon(KEYS[5], all[i], c, time)
  end
end
local fenced = redis.call("HGETALL", KEYS[6])
for i = 1, #fenced, 2 do
  if tonumber(fenced[i + 1]) < time then
    redis.call("HDEL", KEYS[6], fenced[i])
  end
end
if #gone > 0 then
  redis.call("HINCRBY", KEYS[1], "revision", 1)
  redis.call("PUBLISH", ARGV[2], ARGV[3])
elseif handed then
  redis.call("PUBLISH", ARGV[2], ARGV[4])
end
return {"OK", gone}
