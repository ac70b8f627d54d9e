-- leave ends a membership; what the member owned is free.
-- uses: pack clock group member
-- KEYS: meta, members, beats, clients. ARGV: member, channel of group changes,
--   notice, connection or "-". Returns {OK}, also when there is no such member, or
--   it is there by another connection.
if redis.call("HEXISTS", KEYS[2], ARGV[1]) == 1 and not elsewhere(KEYS[2], ARGV[1], ARGV[4]) then
  remove(ARGV[1])
  redis.call("HINCRBY", KEYS[1], "revision", 1)
  redis.call("PUBLISH", ARGV[2], ARGV[3])
end
return {"OK"}
