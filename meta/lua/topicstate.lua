-- topicstate: whether a topic may be used. A library.

-- refuse gives the status to return for a topic that is absent, deleted or
-- being restored; false for a live one.
local function refuse(state)
  if not state then
    return {"NO_TOPIC", "absent"}
  end
  if state == "deleted" then
    return {"NO_TOPIC", "deleted"}
  end
  if state ~= "live" then
    return {"RECOVERING"}
  end
  return false
end

-- fenced says whether a restoring script of this term may not touch the topic.
local function fenced(head, term)
  local h = redis.call("HMGET", head, "state", "term")
  return h[1] ~= "restoring" or h[2] ~= term
end
