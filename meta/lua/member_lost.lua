-- member_lost starts the resume window of a member whose connection broke.
-- uses: pack clock group
-- KEYS: meta, members, beats. ARGV: member, window in ms, channel of group
--   changes, notice, connection or "-". Returns {OK}, also when there is no such
--   member, or it is there by another connection.
local text = redis.call("HGET", KEYS[3], ARGV[1])
if text and not elsewhere(KEYS[2], ARGV[1], ARGV[5]) then
  local deadline, heard = string.match(text, "^(%d+) (%d+)$")
  local until_ = math.min(tonumber(deadline), now() + tonumber(ARGV[2]))
  redis.call("HSET", KEYS[3], ARGV[1], dec(until_) .. " " .. heard)
  redis.call("PUBLISH", ARGV[3], ARGV[4])
end
return {"OK"}
