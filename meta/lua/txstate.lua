-- txstate: the transactions of one producer group. A library.

-- restoring says that a recovery has not put them back yet.
local function restoring(transactions)
  return redis.call("HGET", transactions, "state") == "restoring"
end

-- place writes one into KEYS transactions, ids, agenda, kept; an empty text
-- removes it.
local function place(id, text, agenda, kept)
  if text == "" then
    redis.call("HDEL", KEYS[1], id)
    redis.call("ZREM", KEYS[2], id)
  else
    redis.call("HSET", KEYS[1], id, text)
    redis.call("ZADD", KEYS[2], 0, id)
  end
  for i, at in ipairs({agenda, kept}) do
    if at == "-" then
      redis.call("ZREM", KEYS[2 + i], id)
    else
      redis.call("ZADD", KEYS[2 + i], at, id)
    end
  end
end
