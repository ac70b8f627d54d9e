-- member: members of a group come and go. A library.
-- KEYS of every script that uses it: meta, members, beats, clients.

-- count adds n to what the group counts of a kind of member: those who must
-- subscribe alike, and those who own queues.
local function count(kind, n)
  if kind ~= "assign" then
    redis.call("HINCRBY", KEYS[1], "alike_members", n)
  end
  if kind == "queue" or kind == "assign" then
    redis.call("HINCRBY", KEYS[1], "queue_members", n)
  end
end

-- remove ends a membership.
local function remove(id)
  local m = cjson.decode(redis.call("HGET", KEYS[2], id))
  redis.call("HDEL", KEYS[2], id)
  redis.call("HDEL", KEYS[3], id)
  if redis.call("HGET", KEYS[4], m.client_id) == id then
    redis.call("HDEL", KEYS[4], m.client_id)
  end
  count(m.kind, -1)
end

-- beat renews a membership; its text: until when it lives, when it was heard last.
local function beat(id, time, timeout)
  redis.call("HSET", KEYS[3], id, dec(time + tonumber(timeout)) .. " " .. dec(time))
end

-- handon gives a queue that is being revoked to its next owner; when that one is
-- gone nobody has it, and the coordinator has to decide anew.
local function handon(assignments, field, c, time)
  if redis.call("HEXISTS", KEYS[2], c.next) == 1 then
    redis.call("HSET", assignments, field, toclaim(hand(c, time)))
  else
    redis.call("HDEL", assignments, field)
    redis.call("HINCRBY", KEYS[1], "revision", 1)
  end
end
