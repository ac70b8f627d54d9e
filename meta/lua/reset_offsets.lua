-- reset_offsets moves a group's progress anywhere, under a new version: commits
-- of the old one change nothing any more.
-- uses: pack clock group offset
-- KEYS: meta, members, fenced, assignments, topics, then hashes of offsets. ARGV:
--   member that must own the queues or "-", by whom, channel of group changes,
--   notice, ids of the topics separated by blanks; per queue: which of KEYS, field
--   in it, field of the assignment, assignment epoch, offset, version it must have
--   or 0.
-- Returns {OK, {status, record before or "", record after}, …} | NO_GROUP |
--   RECOVERING | NO_MEMBER | TAKEN.
local id, time = ARGV[1], now()
local state = redis.call("HGET", KEYS[1], "state")
if refusegroup(state) then
  return refusegroup(state)
end
if id ~= "-" and stranger(KEYS[2], KEYS[3], id) then
  return stranger(KEYS[2], KEYS[3], id)
end
local answers, changed = {"OK"}, false
for i = 6, #ARGV, 6 do
  local key, field = KEYS[tonumber(ARGV[i])], ARGV[i + 1]
  local text = redis.call("HGET", key, field)
  local r, status, after = offsetof(text), "stored", text
  local c = id ~= "-" and claim(redis.call("HGET", KEYS[4], ARGV[i + 2]))
  if id ~= "-" and not (c and c.owner == id and c.epoch == ARGV[i + 3]) then
    status = "not_owner"
  elseif ARGV[i + 5] ~= "0" and not (r and dec(r.version) == ARGV[i + 5]) then
    status = "version_conflict"
  else
    local target = tonumber(ARGV[i + 4])
    r = r or {version = 0, start = target}
    r.offset, r.version, changed = target, r.version + 1, true
    after = tooffset(r, time, ARGV[2])
    redis.call("HSET", key, field, after)
  end
  answers[#answers + 1] = {status, text or "", after or ""}
end
if changed then
  for topic in string.gmatch(ARGV[5], "%S+") do
    redis.call("SADD", KEYS[5], topic)
  end
  redis.call("PUBLISH", ARGV[3], ARGV[4])
end
return answers
