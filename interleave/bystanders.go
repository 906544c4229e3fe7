package interleave

import "context"

// nothing does nothing.
var nothing = Actor{Name: "nothing", Do: func(*cue) string { return "ok" }}

// Bystanders returns the actors that leave a subject unchanged, for example those that settle
// a run which has already ended. Two of them need not be played, because neither ever sees a
// change by the other. Operations of several transactions do not count, because they may
// change something and undo it, nor do callers, who hold locks for as long as they like.
func (s *Stage) Bystanders(ctx context.Context, subject *Subject) (map[string]bool, error) {
	untouched, err := s.Play(ctx, subject, [2]*Actor{&nothing, &nothing}, serial()[0])
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	actors := Actors()
	for i := range actors {
		actor := &actors[i]
		if actor.Steps || actor.Calls || !actor.meets(subject) {
			continue
		}
		t, err := s.Play(ctx, subject, [2]*Actor{actor, &nothing}, serial()[0])
		if err != nil {
			return nil, err
		}
		if t.broken() == "" && t.state.equal(untouched.state) {
			found[actor.Name] = true
		}
	}
	return found, nil
}
