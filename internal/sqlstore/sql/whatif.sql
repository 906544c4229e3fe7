-- Common statements of what-if questions.

-- name: limit_tokens
-- Lists the limits with values, and their unused starts.
-- Inputs: none.
-- Output: id, scope, name, cap, minimum, rate, burst, per_key, start_order, tokens,
--   refilled_at.
-- Locks: none.
select id, scope, name, cap, {{minimum}}, rate, burst, per_key, start_order, tokens, refilled_at from {{quota}}
where cap > 0 or {{minimum}} > 0 or rate > 0 or per_key > 0 or start_order <> '';

-- name: first_of_lane
-- Lists the first ready jobs of a lane, without suspects.
-- Inputs: lane, how many.
-- Output: turn, start_by, id, in order.
-- Locks: none.
select turn, start_by, id from {{ready}} /*! force index (primary) */
where lane = ?::int and solo = 0
order by turn, start_by, id
limit ?::int;
