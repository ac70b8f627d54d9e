-- commit_offsets moves a group's progress: of each queue only under the version
-- that is stored, only forward unless the group overwrites, and only by its owner.
-- uses: pack clock group offset
-- KEYS: meta, members, fenced, assignments, then hashes of offsets. ARGV: member
--   or "-", by whom, 1 to overwrite; per queue: which of KEYS, field in it, field
--   of the assignment or "-" where there is none, offset, version, assignment epoch.
-- Returns {OK, {status, record}, …} | NO_GROUP | RECOVERING | NO_MEMBER | TAKEN.
local id, time = ARGV[1], now()
local state = redis.call("HGET", KEYS[1], "state")
if refusegroup(state) then
  return refusegroup(state)
end
local owns = false
if id ~= "-" then
  local refusal = stranger(KEYS[2], KEYS[3], id)
  if refusal then
    return refusal
  end
  owns = cjson.decode(redis.call("HGET", KEYS[2], id)).kind == "queue"
end
local function allowed(field, epoch)
  if field == "-" then
    return true
  end
  local c = claim(redis.call("HGET", KEYS[4], field))
  if owns then
    return c and c.owner == id and c.epoch == epoch
  end
  return not c or redis.call("HEXISTS", KEYS[2], c.owner) == 0
end
local answers = {"OK"}
for i = 4, #ARGV, 6 do
  local key, field = KEYS[tonumber(ARGV[i])], ARGV[i + 1]
  local text = redis.call("HGET", key, field)
  local r, offset, status = offsetof(text), tonumber(ARGV[i + 3]), "unchanged"
  if not r then
    status = "no_record"
  elseif not allowed(ARGV[i + 2], ARGV[i + 5]) then
    status = "not_owner"
  elseif dec(r.version) ~= ARGV[i + 4] then
    status = "version_conflict"
  elseif offset > r.offset or (ARGV[3] == "1" and offset ~= r.offset) then
    r.offset, status = offset, "stored"
    text = tooffset(r, time, ARGV[2])
    redis.call("HSET", key, field, text)
  end
  answers[#answers + 1] = {status, text or ""}
end
return answers
