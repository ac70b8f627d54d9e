-- member_lost starts the resume window of a member whose connection broke.
-- uses: pack clock group
-- KEYS: meta, members, beats. ARGV: member, window in ms, channel of group
--   changes, notice. Returns {OK}, also when there is no such member.
local text = redis.call("HGET", KEYS[3], ARGV[1])
if text then
  local deadline, heard = string.match(text, "^(%d+) (%d+)$")
  local until_ = math.min(tonumber(deadline), now() + tonumber(ARGV[2]))
  redis.call("HSET", KEYS[3], ARGV[1], dec(until_) .. " " .. heard)
  redis.call("PUBLISH", ARGV[3], ARGV[4])
end
return {"OK"}
