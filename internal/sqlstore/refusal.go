package sqlstore

import (
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead"
)

// Refusals, with the same text in all stores.

var (
	moves   = []fairlead.Move{fairlead.Succeed, fairlead.Fail, fairlead.Drop, fairlead.Again, fairlead.Snooze, fairlead.MoveRelease, fairlead.MoveAwait}
	answers = []fairlead.Move{fairlead.Succeed, fairlead.Fail, fairlead.Again}
)

// CheckMoves returns ErrInvalid if one of the settlements has an unknown move: then
// none of them is made.
func CheckMoves(settlements []fairlead.Settlement) error {
	var unknown []fairlead.FieldError
	for i := range settlements {
		if s := &settlements[i]; !slices.Contains(moves, s.Move) {
			unknown = append(unknown, fairlead.FieldError{
				Field: "move", Message: fmt.Sprintf("of job %d is %q; it must be succeed, fail, drop, again, snooze, release or await", s.ID, s.Move),
			})
		}
	}
	if unknown != nil {
		return &fairlead.InvalidError{Fields: unknown}
	}
	return nil
}

// CheckAnswer returns ErrInvalid if no target can give the answer.
func CheckAnswer(answer *fairlead.Settlement) error {
	if slices.Contains(answers, answer.Move) {
		return nil
	}
	return &fairlead.InvalidError{Fields: []fairlead.FieldError{{
		Field: "move", Message: fmt.Sprintf("of the answer for job %d is %q; it must be succeed, fail or again", answer.ID, answer.Move),
	}}}
}

// ReplacementRefused returns why a job failed whose replacement could not be stored.
func ReplacementRefused(err error) string { return "its replacement was refused: " + err.Error() }

// LeaseLost is the ErrLeaseLost of a job whose lease has ended.
func LeaseLost(id int64) error { return fmt.Errorf("job %d: %w", id, fairlead.ErrLeaseLost) }

// DeadlinePassed returns the ErrExpired of a job that is answered too late.
func DeadlinePassed(id int64) error {
	return fmt.Errorf("job %d: its deadline has passed: %w", id, fairlead.ErrExpired)
}

// AnsweredDifferently returns the ErrConflict of a job that has another answer, or has
// ended without one.
func AnsweredDifferently(id int64) error {
	return fmt.Errorf("job %d has been answered differently: %w", id, fairlead.ErrConflict)
}

// AnsweredAlready returns the ErrConflict of a job that needs no more time.
func AnsweredAlready(id int64) error {
	return fmt.Errorf("job %d has been answered or has ended: %w", id, fairlead.ErrConflict)
}
