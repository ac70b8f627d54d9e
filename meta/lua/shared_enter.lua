-- shared_enter registers what a receiver of shared consumption subscribes to,
-- and until when it waits: members that own queues cannot join meanwhile.
-- uses: pack clock group
-- KEYS: meta. ARGV: subscriptions, ms that it waits, idle ms.
-- Returns {OK} | NO_GROUP | RECOVERING | QUEUED | {UNLIKE, subscriptions}.
local g = redis.call("HMGET", KEYS[1], "state", "subs", "alike_members", "queue_members", "shared_until", "shared_wait")
if refusegroup(g[1]) then
  return refusegroup(g[1])
end
if tonumber(g[4] or "0") > 0 then
  return {"QUEUED"}
end
local time = now()
if (tonumber(g[3] or "0") > 0 or tonumber(g[5] or "0") > time) and g[2] ~= ARGV[1] then
  return {"UNLIKE", g[2]}
end
local wait = math.max(tonumber(g[6] or "0"), time + tonumber(ARGV[2]))
redis.call("HSET", KEYS[1], "subs", ARGV[1], "shared_wait", dec(wait),
  "shared_until", dec(math.max(tonumber(g[5] or "0"), wait + tonumber(ARGV[3]))))
return {"OK"}
