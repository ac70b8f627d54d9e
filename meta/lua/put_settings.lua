-- put_settings replaces the settings of a group for one topic.
-- uses: pack group
-- KEYS: meta, settings. ARGV: topic id, version it must have (0: none yet), json,
--   channel of group changes, notice.
-- Returns {OK} | NO_GROUP | RECOVERING | {CONFLICT, json or ""}.
local state = redis.call("HGET", KEYS[1], "state")
if refusegroup(state) then
  return refusegroup(state)
end
local current = redis.call("HGET", KEYS[2], ARGV[1])
local version = current and dec(cjson.decode(current).version) or "0"
if version ~= ARGV[2] then
  return {"CONFLICT", current or ""}
end
redis.call("HSET", KEYS[2], ARGV[1], ARGV[3])
redis.call("PUBLISH", ARGV[4], ARGV[5])
return {"OK"}
