package verdict

import (
	"errors"
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead"
)

// Rejections with the same message in every store.

var (
	moves   = []fairlead.Move{fairlead.Succeed, fairlead.Fail, fairlead.Drop, fairlead.Again, fairlead.Snooze, fairlead.MoveRelease, fairlead.MoveAwait}
	answers = []fairlead.Move{fairlead.Succeed, fairlead.Fail, fairlead.Again}
)

// CheckMoves returns ErrInvalid if any of the settlements has an unknown move. The caller must
// then not make any of the settlements.
func CheckMoves(settlements []fairlead.Settlement) error {
	var unknown []fairlead.FieldError
	for i := range settlements {
		if s := &settlements[i]; !slices.Contains(moves, s.Move) {
			unknown = append(unknown, fairlead.FieldError{
				Field: "move", Message: fmt.Sprintf("is %[2]q for job %[1]d; it must be succeed, fail, drop, again, snooze, release or await", s.ID, s.Move),
			})
		}
	}
	if unknown != nil {
		return &fairlead.InvalidError{Fields: unknown}
	}
	return nil
}

// checkAnswer returns ErrInvalid for a move that is not a valid answer.
func checkAnswer(answer *fairlead.Settlement) error {
	if slices.Contains(answers, answer.Move) {
		return nil
	}
	return &fairlead.InvalidError{Fields: []fairlead.FieldError{{
		Field: "move", Message: fmt.Sprintf("is %[2]q in the answer for job %[1]d; it must be succeed, fail or again", answer.ID, answer.Move),
	}}}
}

// RefusesReplacement reports whether err means that a replacement can never be stored in its
// current form. Any other error may be transient.
func RefusesReplacement(err error) bool {
	return errors.Is(err, fairlead.ErrConflict) || errors.Is(err, fairlead.ErrInvalid)
}

// deadlinePassed returns the ErrExpired of an answer that comes too late.
func deadlinePassed(id int64) error {
	return fmt.Errorf("job %d: its deadline has passed: %w", id, fairlead.ErrExpired)
}

// answeredDifferently returns the ErrConflict of a job that has another answer, or has
// ended without one.
func answeredDifferently(id int64) error {
	return fmt.Errorf("job %d has been answered differently: %w", id, fairlead.ErrConflict)
}

// answeredAlready returns the ErrConflict of an extension for a job that no longer waits.
func answeredAlready(id int64) error {
	return fmt.Errorf("job %d has been answered or has ended: %w", id, fairlead.ErrConflict)
}
