-- assign decides who owns which queue. A queue whose owner stays is not touched;
-- one that changes hands is revoked first, unless nobody has it.
-- uses: pack clock group
-- KEYS: meta, members, assignments. ARGV: term, revision that the decision is
--   based on, reason, ms to give a queue back, channel of group changes, notice,
--   ids of stand-by members separated by blanks; per queue: its field, owner or "-".
-- Returns {OK, generation, 1 when anything changed} | NO_GROUP | RECOVERING |
--   FENCED | CHANGED.
local time = now()
local g = redis.call("HMGET", KEYS[1], "state", "revision", "generation", "standby")
if refusegroup(g[1]) then
  return refusegroup(g[1])
end
if oldterm(KEYS[1], ARGV[1]) then
  return {"FENCED"}
end
if g[2] ~= ARGV[2] then
  return {"CHANGED"}
end
local generation = dec(tonumber(g[3] or "0") + 1)
local live, writes, drops = {["-"] = false}, {}, {}
local function lives(id)
  if live[id] == nil then
    live[id] = redis.call("HEXISTS", KEYS[2], id) == 1
  end
  return live[id]
end
local function write(field, c)
  writes[#writes + 1] = field
  writes[#writes + 1] = toclaim(c)
end
for i = 8, #ARGV, 2 do
  local field, owner = ARGV[i], ARGV[i + 1]
  local c = claim(redis.call("HGET", KEYS[3], field))
  local coming = c and (c.state == "revoking" and c.next or c.owner)
  if c and lives(c.owner) then
    if c.owner == owner and c.state == "revoking" then
      write(field, {owner = owner, epoch = c.epoch, state = "owned", next = "-", nextepoch = "0", deadline = 0, at = c.at})
    elseif c.owner ~= owner and coming ~= owner then
      local deadline = c.state == "revoking" and c.deadline or time + tonumber(ARGV[4])
      write(field, {owner = c.owner, epoch = c.epoch, state = "revoking", next = owner, nextepoch = generation, deadline = deadline, at = c.at})
    end
  elseif owner ~= "-" then
    write(field, {owner = owner, epoch = generation, state = "owned", next = "-", nextepoch = "0", deadline = 0, at = dec(time)})
  elseif c then
    drops[#drops + 1] = field
  end
end
if #writes + #drops == 0 and (g[4] or "") == ARGV[7] then
  return {"OK", g[3] or "0", 0}
end
many("HSET", KEYS[3], writes)
many("HDEL", KEYS[3], drops)
redis.call("HSET", KEYS[1], "generation", generation, "reason", ARGV[3], "assigned_at", dec(time), "standby", ARGV[7])
redis.call("PUBLISH", ARGV[5], ARGV[6])
return {"OK", generation, 1}
