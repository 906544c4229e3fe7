package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"

	"google.golang.org/protobuf/proto"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/server/internal/rest"
	"github.com/fairlead-io/fairlead/server/internal/scope"
	"github.com/fairlead-io/fairlead/server/internal/upload"
)

// dryRun removes the parameter dry_run from the query of an upload and returns its value.
func dryRun(query url.Values) (bool, error) {
	given := query.Get("dry_run")
	query.Del("dry_run")
	switch given {
	case "", "false":
		return false, nil
	case "true":
		return true, nil
	}
	return false, rest.InvalidField("dry_run", fmt.Sprintf("is %q; it must be true or false", given))
}

// Limits for the result of a dry run of an upload.
const (
	firstTasks = 5
	mostFaults = 20
)

// rehearse reads an upload to its end without storing anything. It returns what would be
// stored, or an error with at most mostFaults of the invalid fields.
func (u *uploads) rehearse(ctx context.Context, header *fairleadv1.NewBatch, lines upload.Lines) (proto.Message, error) {
	wanted, err := batchOf(header)
	if err != nil {
		return nil, err
	}
	if err := batch.Normalize(&wanted); err != nil {
		return nil, err
	}
	if err := scope.CheckBatch(ctx, &wanted); err != nil {
		return nil, err
	}
	rehearsal, err := u.batches.client.Rehearse(ctx, wanted)
	if err != nil {
		return nil, err
	}
	out, faults := &fairleadv1.BatchPreview{}, &fairlead.InvalidError{}
	for len(faults.Fields) < mostFaults {
		change, err := lines.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = lines.Blame(rehearsal.Add(ctx, change))
		}
		var invalid *fairlead.InvalidError
		switch {
		case errors.As(err, &invalid) && repeats(faults, invalid):
			return nil, faults // the rest cannot be parsed
		case errors.As(err, &invalid):
			faults.Fields = append(faults.Fields, invalid.Fields...)
		case err != nil:
			return nil, err
		case len(out.GetFirst()) < firstTasks:
			out.First = append(out.First, newTaskOf(change))
		}
	}
	if len(faults.Fields) > 0 {
		return nil, faults
	}
	total, err := rehearsal.Close(ctx)
	if err != nil {
		return nil, err
	}
	out.Total = proto.Int32(int32(total))
	return out, nil
}

// repeats reports whether the newly found fault equals the last one.
func repeats(faults, found *fairlead.InvalidError) bool {
	return len(faults.Fields) > 0 && faults.Fields[len(faults.Fields)-1] == found.Fields[0]
}

// newTaskOf converts a task to its form in requests.
func newTaskOf(change batch.Change) *fairleadv1.NewTask {
	target := change.Target
	return &fairleadv1.NewTask{
		Target: &fairleadv1.Target{Id: target.ID, Name: target.Name, Type: target.Type, Env: target.Env},
		Before: change.Before, After: change.After,
	}
}
