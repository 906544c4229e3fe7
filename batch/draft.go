package batch

import (
	"context"
	"fmt"
	"strings"

	"github.com/fairlead-io/fairlead"
)

// Draft is a batch in the making: tasks are added to it, and nobody sees it
// before it is opened.
type Draft struct {
	client *Client
	batch  Batch
	writer *partWriter
	kinds  map[string]bool // that live nodes handle
}

// Begin makes a batch to add tasks to. It fails with ErrInvalid, also if no live
// node knows its type.
func (c *Client) Begin(ctx context.Context, batch Batch) (*Draft, error) {
	if err := Normalize(&batch); err != nil {
		return nil, err
	}
	nodes, err := c.store.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	kinds := map[string]bool{}
	for kind := range c.operations() {
		kinds[kind] = true
	}
	for _, node := range nodes {
		for _, kind := range node.Kinds {
			kinds[kind] = kinds[kind] || !node.Dead
		}
	}
	if !handled(kinds, batch.Type) {
		return nil, &fairlead.InvalidError{Fields: []fairlead.FieldError{{Field: "type", Message: fmt.Sprintf(
			"is %q: no live node handles batches of this type; start one that registers an operation for it, or mend the type", batch.Type)}}}
	}
	if batch, err = c.store.CreateBatch(ctx, batch); err != nil {
		return nil, err
	}
	return &Draft{client: c, batch: batch, writer: newPartWriter(c.store, batch.ID, 1, PassForward), kinds: kinds}, nil
}

// handled tells whether there are targets to which a type of batch can be done.
func handled(kinds map[string]bool, batchType string) bool {
	for kind, live := range kinds {
		if live && strings.HasSuffix(kind, TaskKind("", batchType)) {
			return true
		}
	}
	return false
}

// ID is that of the batch.
func (n *Draft) ID() int64 { return n.batch.ID }

// Add adds tasks. It fails with ErrInvalid, also if no live node knows how to do
// such a task, and then nothing more can be added.
func (n *Draft) Add(ctx context.Context, changes ...Change) error {
	for i := range changes {
		var c complaints
		prefix := fmt.Sprintf("tasks[%d].", n.writer.count)
		adopt(&c, prefix, NormalizeChange(&changes[i]))
		adopt(&c, prefix, n.batch.checkTaskKind(&changes[i]))
		if len(c.Found) == 0 {
			adopt(&c, prefix, n.check(changes[i]))
		}
		if kind := TaskKind(changes[i].Target.Type, n.batch.Type); changes[i].Target.Type != "" && !n.kinds[kind] {
			c.Refuse(prefix+"target.type", "is %q: no live node handles batches of type %q on such targets; start one that registers the operation, or mend the type", changes[i].Target.Type, n.batch.Type)
		}
		if n.writer.count >= MaxTasks {
			c.Refuse("tasks", "are more than %d; make several batches of them", MaxTasks)
		} else if n.writer.full() {
			c.Refuse("tasks", "have more bytes of parameters than a batch can hold; make several batches of them")
		}
		if err := fairlead.Invalid(c.Found...); err != nil {
			return err
		}
		if err := n.writer.add(ctx, PartTask{Change: changes[i]}, false); err != nil {
			return err
		}
	}
	return nil
}

// Open lets the batch begin: from now on it can be seen. It fails with ErrInvalid if
// it has no tasks.
func (n *Draft) Open(ctx context.Context) (Batch, error) {
	total := n.writer.count
	if total == 0 {
		return Batch{}, &fairlead.InvalidError{Fields: []fairlead.FieldError{{Field: "tasks", Message: "are none; a batch needs at least one"}}}
	}
	if err := n.writer.close(ctx, &n.batch); err != nil {
		return Batch{}, err
	}
	return n.client.act(ctx, n.batch.ID, func(b *Batch) error {
		if b.Opened {
			return nil // the answer was lost
		}
		b.Opened, b.Total, b.Held, b.Tries = true, total, total, 1
		b.Tally = Tally{Pending: total}
		b.Passes = []Pass{{Number: 1, Kind: PassForward, Tasks: total}}
		return nil
	})
}

// check asks the operation whether a task can be done, if it is known.
func (n *Draft) check(change Change) error {
	op, known := n.client.operations()[TaskKind(change.Target.Type, n.batch.Type)]
	if !known || op.Check == nil {
		return nil
	}
	return op.Check(n.batch.args(0, change, false))
}
