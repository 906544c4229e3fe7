package verdict

import (
	"errors"
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead"
)

// What every store refuses, in the same words.

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
				Field: "move", Message: fmt.Sprintf("is %[2]q for job %[1]d; it must be succeed, fail, drop, again, snooze, release or await", s.ID, s.Move),
			})
		}
	}
	if unknown != nil {
		return &fairlead.InvalidError{Fields: unknown}
	}
	return nil
}

// checkAnswer returns the ErrInvalid of an answer that no target can give.
func checkAnswer(answer *fairlead.Settlement) error {
	if slices.Contains(answers, answer.Move) {
		return nil
	}
	return &fairlead.InvalidError{Fields: []fairlead.FieldError{{
		Field: "move", Message: fmt.Sprintf("is %[2]q in the answer for job %[1]d; it must be succeed, fail or again", answer.ID, answer.Move),
	}}}
}

// RefusesReplacement reports whether an error says that a replacement can never be
// stored as it is. Any other error may pass.
func RefusesReplacement(err error) bool {
	return errors.Is(err, fairlead.ErrConflict) || errors.Is(err, fairlead.ErrInvalid)
}

// deadlinePassed returns the ErrExpired of a job that is answered too late.
func deadlinePassed(id int64) error {
	return fmt.Errorf("job %d: its deadline has passed: %w", id, fairlead.ErrExpired)
}

// answeredDifferently returns the ErrConflict of a job that has another answer, or has
// ended without one.
func answeredDifferently(id int64) error {
	return fmt.Errorf("job %d has been answered differently: %w", id, fairlead.ErrConflict)
}

// answeredAlready returns the ErrConflict of a job that needs no more time.
func answeredAlready(id int64) error {
	return fmt.Errorf("job %d has been answered or has ended: %w", id, fairlead.ErrConflict)
}
