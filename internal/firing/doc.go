// Package firing decides what a schedule does: which instants are due, and whether
// each of them leads to a run, to a queued run or to a recorded skip.
//
// It is made of pure functions. What they are told comes from one transaction of
// a store, which also carries out what they plan; so a decision is made once,
// whoever makes it. The questions are asked in this order, and the first answer
// counts:
//
//	overlap      is an earlier run active?
//	failure      has the last one failed?
//	concurrency  are there as many as may be?
//
// That an instant leads to one thing only is not decided here: the cursor of the
// schedule goes past it in the same transaction.
package firing
