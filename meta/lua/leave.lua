-- leave ends a membership; what the member owned is free.
-- uses: pack clock group member
-- KEYS: meta, members, beats, clients. ARGV: member, channel of group changes, notice.
-- Returns {OK}, also when there is no such member.
if redis.call("HEXISTS", KEYS[2], ARGV[1]) == 1 then
  remove(ARGV[1])
  redis.call("HINCRBY", KEYS[1], "revision", 1)
  redis.call("PUBLISH", ARGV[2], ARGV[3])
end
return {"OK"}
