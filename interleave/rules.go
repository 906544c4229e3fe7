package interleave

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// Some faults change only the answer to an actor, or do the same in every order. The
// serial orders cannot show them. These rules are about each actor alone.

// A tenure is a run as it acts. A run that acts after a later claim of its job has ended must
// be refused.
type tenure struct {
	*scene
	job   *fairlead.Job
	later int64 // fence of the later claim, or 0
}

// tenure begins an act of the run of the subject.
func (s *scene) tenure() tenure {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := tenure{scene: s, job: s.job}
	if fence := s.fences[s.job.ID]; fence > s.job.Fence {
		t.later = fence
	}
	return t
}

// ends records a problem if the act of an old run was acknowledged. It returns the result.
func (t tenure) ends(result string) string {
	switch bare(result) {
	case "as asked", "cancelled", "ok", "stop":
		if t.later != 0 {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.problems = append(t.problems, fmt.Sprintf("a run was told %q after a later claim of its job", bare(result)))
		}
	}
	return result
}

// answered records an answer that was acknowledged, by the fence of its run.
func (t tenure) answered(result string) string {
	if bare(result) == "ok" {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.answers = append(t.answers, driver.Held{ID: t.job.ID, Fence: t.job.Fence})
	}
	return t.ends(result)
}

// unheard returns the acknowledged answers for which jobs still wait.
func (s *scene) unheard(ctx context.Context) (problems []string, err error) {
	for _, answer := range s.answers {
		err := s.rows(ctx, fmt.Sprintf("select id from fairlead_waiting where id = %d and fence = %d", answer.ID, answer.Fence),
			func([]string, []sql.NullString) {
				problems = append(problems, "a job waits for an answer that was acknowledged")
			})
		if err != nil {
			return nil, err
		}
	}
	return problems, nil
}
