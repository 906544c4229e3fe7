package server

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/server/internal/caller"
	"github.com/fairlead-io/fairlead/server/internal/masks"
	"github.com/fairlead-io/fairlead/server/internal/pipeline"
	"github.com/fairlead-io/fairlead/server/internal/rest"
	"github.com/fairlead-io/fairlead/server/internal/upload"
)

// uploads handles batches of any size with one task per line. It stores tasks as they
// arrive, with at most a few thousand in memory, and reads only a few uploads at once.
type uploads struct {
	batches  *Batches
	masks    *masks.Masks
	pipeline *pipeline.Pipeline
	endpoint *rest.Endpoint // CreateBatch, of which uploads are another form
	api      *rest.Server
	queue    upload.Queue
}

// ServeHTTP stores a batch, and answers once it is stored completely.
func (u *uploads) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	batch, err := u.take(http.NewResponseController(w), r)
	u.api.Answer(w, r, batch, err)
}

func (u *uploads) take(conn *http.ResponseController, r *http.Request) (proto.Message, error) {
	ctx := r.Context()
	if err := pipeline.Admit(ctx, u.endpoint); err != nil {
		return nil, err // before reading the body
	}
	query := r.URL.Query()
	dry, err := dryRun(query)
	if err != nil {
		return nil, err
	}
	header := &fairleadv1.NewBatch{}
	if err := readBatchQuery(query, header); err != nil {
		return nil, err
	}
	caller := caller.Of(ctx).Identity.Name
	if err := u.queue.Enter(ctx, caller); err != nil {
		return nil, err
	}
	defer u.queue.Leave(caller)
	paced := upload.NewBody(r.Body, conn, func() bool { return u.queue.Wanted(caller) })
	defer paced.Stop()
	body, err := unpacked(paced, r.Header.Get("Content-Encoding"))
	if err != nil {
		return nil, err
	}
	lines, err := upload.NewLines(r.Header.Get("Content-Type"), body)
	if err != nil {
		return nil, err
	}
	above, err := lines.Header()
	if err != nil {
		return nil, err
	}
	proto.Merge(above, header)
	if err := rest.Check(above); err != nil {
		return nil, err
	}
	if dry { // a dry run needs no audit log entry
		return pipeline.WhileValid(func(ctx context.Context, _ proto.Message) (proto.Message, error) {
			return u.rehearse(ctx, above, lines)
		})(ctx, above)
	}
	// An upload may take long. No task is stored after the caller's credential has become
	// invalid.
	return u.pipeline.Call(ctx, u.endpoint, above, pipeline.WhileValid(func(ctx context.Context, _ proto.Message) (proto.Message, error) {
		batch, err := u.store(ctx, above, lines)
		if err != nil {
			return nil, err
		}
		if err := u.masks.Hide(ctx, batch); err != nil {
			return nil, err
		}
		return batch, nil
	}))
}

// store stores a batch and its tasks.
func (u *uploads) store(ctx context.Context, header *fairleadv1.NewBatch, lines upload.Lines) (*fairleadv1.Batch, error) {
	wanted, err := batchOf(header)
	if err != nil {
		return nil, err
	}
	begun, err := u.batches.client.Begin(ctx, wanted)
	if err != nil {
		return nil, err
	}
	for {
		change, err := lines.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := begun.Add(ctx, change); err != nil {
			return nil, lines.Blame(err)
		}
	}
	batch, err := begun.Open(ctx)
	return u.batches.after(ctx, batch, err)
}

// readBatchQuery reads the fields of a batch from the query. Fields of canary and
// stop_after have names such as canary.tasks.
func readBatchQuery(query url.Values, into *fairleadv1.NewBatch) error {
	for _, name := range slices.Sorted(maps.Keys(query)) {
		var to proto.Message = into
		part, field, nested := strings.Cut(name, ".")
		switch {
		case nested && part == "canary":
			if into.Canary == nil {
				into.Canary = &fairleadv1.Canary{}
			}
			to = into.GetCanary()
		case nested && part == "stop_after":
			if into.StopAfter == nil {
				into.StopAfter = &fairleadv1.Threshold{}
			}
			to = into.GetStopAfter()
		case name == "info":
			into.Info = []byte(query.Get(name))
			if err := fairlead.CheckJSON(name, into.GetInfo()); err != nil {
				return err
			}
			continue
		default:
			part, field = "", name
		}
		if err := rest.SetTexts(to, field, query[name]); err != nil {
			return within(part, err)
		}
	}
	return nil
}

// within prefixes the fields in a validation error with a place.
func within(place string, err error) error {
	var invalid *fairlead.InvalidError
	if place == "" || !errors.As(err, &invalid) {
		return err
	}
	out := &fairlead.InvalidError{}
	for _, f := range invalid.Fields {
		field := place + "." + f.Field
		if f.Field == "body" {
			field = place // the whole field
		}
		out.Fields = append(out.Fields, fairlead.FieldError{Field: field, Message: f.Message})
	}
	return out
}

// unpacked returns the uncompressed body of a request.
func unpacked(body io.Reader, encoding string) (*bufio.Reader, error) {
	switch encoding {
	case "", "identity":
	case "gzip":
		packed, err := gzip.NewReader(body)
		if own := (*rest.Error)(nil); errors.As(err, &own) {
			return nil, own
		}
		if err != nil {
			return nil, &rest.Error{Status: http.StatusBadRequest, Detail: "the Content-Encoding is gzip, but the body is not valid gzip"}
		}
		body = packed
	default:
		return nil, &rest.Error{Status: http.StatusUnsupportedMediaType, Detail: fmt.Sprintf("the body is encoded as %q; send it unencoded or as gzip", encoding)}
	}
	return bufio.NewReaderSize(body, 64<<10), nil
}
