package batch

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead"
)

// builder collects and checks the tasks of a new batch, and stores them in chunks.
type builder struct {
	batch      Batch
	writer     *chunkWriter
	kinds      map[string]bool      // that live nodes handle
	operations map[string]Operation // that are known here, by the kind of their jobs
	generic    map[string]bool      // types of targets of tasks so far that the operation for AnyType does
}

// newBuilder returns a builder for the tasks of a batch. It fails with ErrInvalid, also if no live node knows
// its type.
func (c *Client) newBuilder(ctx context.Context, nodes func(ctx context.Context) ([]fairlead.Node, error), batch Batch) (*builder, error) {
	if err := Normalize(&batch); err != nil {
		return nil, err
	}
	alive, err := nodes(ctx)
	if err != nil {
		return nil, err
	}
	in := &builder{batch: batch, kinds: map[string]bool{}, operations: c.operations(), generic: map[string]bool{}}
	for kind := range in.operations {
		in.kinds[kind] = true
	}
	for _, node := range alive {
		for _, kind := range node.Kinds {
			in.kinds[kind] = in.kinds[kind] || !node.Dead
		}
	}
	if !in.handled() {
		return nil, &fairlead.InvalidError{Fields: []fairlead.FieldError{{Field: "type", Message: fmt.Sprintf(
			"is %q: no live node handles batches of this type; start a node that registers an operation for it, or correct the type", batch.Type)}}}
	}
	return in, nil
}

// handled reports whether there are targets to which the type of batch can be done.
func (n *builder) handled() bool {
	for kind, live := range n.kinds {
		if live && (strings.HasSuffix(kind, TaskKind("", n.batch.Type)) || strings.HasSuffix(kind, TaskKind("", AnyType))) {
			return true
		}
	}
	return false
}

// kindOf is the kind of the tasks that are done to a type of target. It is that of the
// operation for AnyType if only that one is handled.
func (n *builder) kindOf(targetType string) (kind string, generic bool) {
	own, all := TaskKind(targetType, n.batch.Type), TaskKind(targetType, AnyType)
	if !n.kinds[own] && n.kinds[all] {
		return all, true
	}
	return own, false
}

// generics are the types of targets whose tasks the operation for AnyType does, in order.
func (n *builder) generics() []string { return slices.Sorted(maps.Keys(n.generic)) }

// add adds tasks.
func (n *builder) add(ctx context.Context, changes []Change) error {
	for i := range changes {
		var c complaints
		prefix := fmt.Sprintf("tasks[%d].", n.writer.count)
		adopt(&c, prefix, NormalizeChange(&changes[i]))
		adopt(&c, prefix, n.batch.checkTaskKind(&changes[i]))
		if len(c.Found) == 0 {
			adopt(&c, prefix, n.check(changes[i]))
		}
		kind, generic := n.kindOf(changes[i].Target.Type)
		if generic {
			n.generic[changes[i].Target.Type] = true
		}
		if changes[i].Target.Type != "" && !n.kinds[kind] {
			c.Refuse(prefix+"target.type", "is %q: no live node handles batches of type %q for this target type; start a node that registers the operation, or correct the type", changes[i].Target.Type, n.batch.Type)
		}
		if n.writer.count >= MaxTasks {
			c.Refuse("tasks", "has more than %d entries; split them into several batches", MaxTasks)
		} else if n.writer.full() {
			c.Refuse("tasks", "exceeds the total size of parameters allowed in a batch; split the tasks into several batches")
		}
		if err := fairlead.Invalid(c.Found...); err != nil {
			return err
		}
		if err := n.writer.add(ctx, ChunkTask{Change: changes[i]}, false, false); err != nil {
			return err
		}
	}
	return nil
}

// check asks the operation whether a task can be done, if it is known.
func (n *builder) check(change Change) error {
	kind, _ := n.kindOf(change.Target.Type)
	op, known := n.operations[kind]
	if !known || op.Check == nil {
		return nil
	}
	return op.Check(n.batch.args(0, change, PassForward))
}

// close stores what is left of the tasks, and returns how many there are.
func (n *builder) close(ctx context.Context) (total int, err error) {
	if n.writer.count == 0 {
		return 0, &fairlead.InvalidError{Fields: []fairlead.FieldError{{Field: "tasks", Message: "is empty; a batch needs at least one task"}}}
	}
	return n.writer.count, n.writer.close(ctx, &n.batch)
}
