-- restore_entries appends entries to the index of a topic that is being
-- restored; repeating it changes nothing.
-- uses: pack topicstate
-- KEYS: head, hot list. ARGV: term, length of the list before, entries (≤ 500).
-- Returns {OK} | FENCED | CORRUPT.
if fenced(KEYS[1], ARGV[1]) then
  return {"FENCED"}
end
local before, length = tonumber(ARGV[2]), redis.call("LLEN", KEYS[2])
if length == before then
  redis.call("RPUSH", KEYS[2], unpack(ARGV, 3))
elseif length ~= before + #ARGV - 2 then
  return {"CORRUPT"}
end
return {"OK"}
