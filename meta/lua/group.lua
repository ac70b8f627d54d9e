-- group: whether a group may be used, who is a member, whose a queue is. A library.

-- refusegroup gives the status to return for a group that is absent, deleted or
-- being restored; false for a live one.
local function refusegroup(state)
  if not state or state == "deleted" then
    return {"NO_GROUP"}
  end
  if state ~= "live" then
    return {"RECOVERING"}
  end
  return false
end

-- oldterm says whether a coordinator's term is over; a newer one is remembered.
local function oldterm(meta, term)
  local known = tonumber(redis.call("HGET", meta, "term") or "0")
  if tonumber(term) < known then
    return true
  end
  if tonumber(term) > known then
    redis.call("HSET", meta, "term", term)
  end
  return false
end

-- stranger gives the status for who is no member; false for a member.
local function stranger(members, fenced, member)
  if redis.call("HEXISTS", members, member) == 1 then
    return false
  end
  if redis.call("HEXISTS", fenced, member) == 1 then
    return {"TAKEN"}
  end
  return {"NO_MEMBER"}
end

-- connection of a member: the last one that it joined by. Pattern, for its json.
local connection = '"connection":"(%w*)"'

-- elsewhere says whether a member has joined by another connection meanwhile; "-"
-- asks about none.
local function elsewhere(members, member, by)
  if by == "-" then
    return false
  end
  local text = redis.call("HGET", members, member)
  return text and string.match(text, connection) ~= by
end

-- claim reads the packed assignment of a queue; nil when it has none.
local function claim(text)
  if not text then
    return nil
  end
  local owner, epoch, state, next, nextepoch, deadline, at =
    string.match(text, "^(%S+) (%d+) (%a+) (%S+) (%d+) (%d+) (%d+)$")
  return {owner = owner, epoch = epoch, state = state, next = next, nextepoch = nextepoch, deadline = tonumber(deadline), at = at}
end

-- "-" stands for nobody.
local function toclaim(c)
  return string.format("%s %s %s %s %s %.0f %s", c.owner, c.epoch, c.state, c.next, c.nextepoch, c.deadline, c.at)
end

-- hand gives a queue that is being revoked to the next owner.
local function hand(c, time)
  return {owner = c.next, epoch = c.nextepoch, state = "owned", next = "-", nextepoch = "0", deadline = 0, at = dec(time)}
end
