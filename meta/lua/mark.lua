-- mark notes how far a member has been given messages of its queues: whoever has
-- them next counts those that were not finished as delivered before.
-- uses: pack clock group
-- KEYS: meta, assignments, deliveries. ARGV: member, connection, most connections;
--   per queue: its field, assignment epoch, offset version, progress, the offset
--   behind the last message given.
-- Of a queue that the member does not have nothing is noted. A value is the offset
-- version, then connection and offset of each connection, the latest one last.
-- Returns {OK} | NO_GROUP | RECOVERING.
local state = redis.call("HGET", KEYS[1], "state")
if refusegroup(state) then
  return refusegroup(state)
end
for i = 4, #ARGV, 5 do
  local field, epoch, version, progress, last = ARGV[i], ARGV[i + 1], ARGV[i + 2], tonumber(ARGV[i + 3]), ARGV[i + 4]
  local c = claim(redis.call("HGET", KEYS[2], field))
  if c and c.owner == ARGV[1] and c.epoch == epoch then
    local words = {}
    for word in string.gmatch(redis.call("HGET", KEYS[3], field) or "", "%S+") do
      words[#words + 1] = word
    end
    local list = {}
    for j = 2, words[1] == version and #words or 0, 2 do
      if words[j] ~= ARGV[2] and tonumber(words[j + 1]) > progress then
        list[#list + 1] = words[j] .. " " .. words[j + 1]
      end
    end
    list[#list + 1] = ARGV[2] .. " " .. last
    local first = math.max(1, #list - tonumber(ARGV[3]) + 1)
    redis.call("HSET", KEYS[3], field, version .. " " .. table.concat(list, " ", first))
  end
end
return {"OK"}
