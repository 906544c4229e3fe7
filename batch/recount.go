package batch

// Recount counts the tasks in chunks, treating released tasks as pending. Except for running
// tasks, the result is the correct value of Tally.
func (r *Record) Recount(chunks []Chunk) Tally {
	return r.recount(chunks).Tally
}

// recount counts all that a batch knows of its tasks.
func (r *Record) recount(chunks []Chunk) Record {
	var found Record
	for i := range chunks {
		kind := chunks[i].Kind
		if kind == PassThen || !r.began(chunks[i].Pass) {
			continue
		}
		for n, mark := range chunks[i].States {
			if mark == MarkPassed {
				continue
			}
			if chunks[i].lost(n) {
				found.Doubtful++
			}
			*found.Tally.Of(taskState(kind, mark, r.dropped()))++
			switch {
			case mark == MarkHeld:
				*found.heldBy(kind)++
			case mark == MarkOut:
				found.Out++
				if kind == PassUndo {
					found.OutUndo++
				}
			case (mark == MarkDoubt || mark == MarkHalted) && kind != PassUndo:
				found.Unclear++
			}
		}
	}
	return found
}

// Miscount describes an incorrect task count.
type Miscount struct {
	What    string // state of the miscounted tasks, or the name of another count
	Counted int    // stored count
	Found   int    // correct count
}

// Mend recounts the tasks in all of the batch's chunks, corrects wrong counts, and returns
// them. The result should always be empty.
func (r *Record) Mend(chunks []Chunk) []Miscount {
	var wrong []Miscount
	found := r.recount(chunks)
	mend := func(what string, counted *int, found int) {
		if *counted != found {
			wrong = append(wrong, Miscount{What: what, Counted: *counted, Found: found})
			*counted = found
		}
	}
	for _, state := range TaskStates() {
		mend(string(state), r.Tally.Of(state), *found.Tally.Of(state))
	}
	mend("held", &r.Held, found.Held)
	mend("held to retry", &r.HeldRetry, found.HeldRetry)
	mend("held to roll back", &r.HeldUndo, found.HeldUndo)
	mend("out", &r.Out, found.Out)
	mend("out to roll back", &r.OutUndo, found.OutUndo)
	mend("doubtful", &r.Doubtful, found.Doubtful)
	mend("unclear", &r.Unclear, found.Unclear)
	return wrong
}
