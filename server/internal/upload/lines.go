package upload

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/message"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// maxTaskLine limits the length of a line in an upload.
const maxTaskLine = 1 << 20

// Lines is a sequence of tasks, one per line.
type Lines interface {
	// header returns the batch described before the tasks.
	Header() (*fairleadv1.NewBatch, error)
	// next returns the next task, or io.EOF. Other errors name the line.
	Next() (batch.Change, error)
	// blame adds the last line to an error about its task.
	Blame(err error) error
}

// NewLines reads tasks in the format given by the content type, or otherwise in the
// format that they appear to have.
func NewLines(contentType string, body *bufio.Reader) (Lines, error) {
	kind, _, _ := strings.Cut(contentType, ";")
	switch strings.TrimSpace(strings.ToLower(kind)) {
	case "text/csv":
		return &csvLines{meter: &meter{from: body}}, nil
	case "application/x-ndjson", "application/ndjson", "application/jsonl", "application/json":
		return newJSONLines(body), nil
	case "", "application/x-www-form-urlencoded", "application/octet-stream", "text/plain": // generic types that programs send for any content
		if first, err := body.Peek(1); err == nil && first[0] == '{' {
			return newJSONLines(body), nil
		}
		return &csvLines{meter: &meter{from: body}}, nil
	}
	return nil, &rest.Error{Status: http.StatusUnsupportedMediaType, Detail: fmt.Sprintf("the content type is %s; send text/csv or application/x-ndjson", kind)}
}

// badLine returns the validation error for a line.
func badLine(number int, field, message string) error {
	at := fmt.Sprintf("line %d", number)
	if field != "" {
		at += ", " + field
	}
	return rest.InvalidField(at, message)
}

// blamed adds the line to an error about its task, and replaces field names by those used
// in the upload.
func blamed(err error, line int, names map[string]string) error {
	var invalid *fairlead.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	out := &fairlead.InvalidError{}
	for _, f := range invalid.Fields {
		field := f.Field
		if _, inside, of := strings.Cut(field, "]."); of {
			field = inside
		}
		if name, known := names[field]; known {
			field = name
		}
		at := fmt.Sprintf("line %d", line)
		if field != "body" { // the whole body
			at += ", " + field
		}
		out.Fields = append(out.Fields, fairlead.FieldError{Field: at, Message: f.Message})
	}
	return out
}

// unreadable returns the error for a body that ends unexpectedly.
func unreadable(err error) error {
	var invalid *fairlead.InvalidError
	var own *rest.Error
	if errors.As(err, &invalid) || errors.As(err, &own) {
		return err
	}
	return &rest.Error{Status: http.StatusBadRequest, Detail: "the body was not received completely; nothing was created"}
}

// jsonLines reads tasks as JSON, one per line. The first line may be the batch.
type jsonLines struct {
	lines  *bufio.Scanner
	line   int
	kept   []byte // first line, if it was read ahead
	hasOne bool
}

func newJSONLines(body io.Reader) *jsonLines {
	l := &jsonLines{lines: bufio.NewScanner(body)}
	l.lines.Buffer(make([]byte, 0, 64<<10), maxTaskLine)
	return l
}

// read returns the next nonempty line.
func (l *jsonLines) read() ([]byte, error) {
	if l.hasOne {
		l.hasOne = false
		return l.kept, nil
	}
	for l.lines.Scan() {
		l.line++
		if line := bytes.TrimSpace(l.lines.Bytes()); len(line) > 0 {
			return slices.Clone(line), nil // decoded values refer to it
		}
	}
	switch err := l.lines.Err(); {
	case err == nil:
		return nil, io.EOF
	case errors.Is(err, bufio.ErrTooLong):
		return nil, badLine(l.line+1, "", fmt.Sprintf("is longer than %d bytes", maxTaskLine))
	default:
		return nil, unreadable(err)
	}
}

func (l *jsonLines) Header() (*fairleadv1.NewBatch, error) {
	out := &fairleadv1.NewBatch{}
	line, err := l.read()
	if errors.Is(err, io.EOF) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	if isTask(line) {
		l.kept, l.hasOne = line, true
		return out, nil
	}
	if err := rest.Decode(line, out); err != nil {
		return nil, l.Blame(err)
	}
	if len(out.GetTasks()) > 0 {
		return nil, badLine(l.line, "tasks", "must not be part of the batch; put each task on a line of its own")
	}
	return out, nil
}

// isTask reports whether a line is a task or empty, as opposed to a batch.
func isTask(line []byte) bool {
	var task struct {
		Target json.RawMessage `json:"target"`
	}
	return json.Unmarshal(line, &task) != nil || task.Target != nil
}

func (l *jsonLines) Next() (batch.Change, error) {
	line, err := l.read()
	if err != nil {
		return batch.Change{}, err
	}
	task := &fairleadv1.NewTask{}
	if err := rest.Unmarshal(line, task); err != nil {
		return batch.Change{}, l.Blame(err)
	}
	return message.ChangeOf(task), nil
}

func (l *jsonLines) Blame(err error) error { return blamed(err, l.line, nil) }

// taskColumns lists the possible columns of a table of tasks.
var taskColumns = []string{"target_id", "target_name", "target_type", "target_env", "before", "after"}

// columnNames maps fields to columns.
var columnNames = map[string]string{"target.id": "target_id", "target.name": "target_name", "target.type": "target_type", "target.env": "target_env"}

// csvLines reads tasks from a table with a header.
type csvLines struct {
	meter   *meter
	table   *csv.Reader
	columns []string
	line    int
}

// unknownColumn returns the error message for an unknown column name. In some locales,
// spreadsheets separate fields with semicolons; then the whole line is one name.
func unknownColumn(name string) string {
	if strings.ContainsAny(name, ";\t|") {
		return "contains no comma, so it is a single column; separate fields with commas"
	}
	return "is not a known column; use " + strings.Join(taskColumns, ", ")
}

func (l *csvLines) Header() (*fairleadv1.NewBatch, error) {
	l.table = csv.NewReader(l.meter)
	l.table.ReuseRecord = true
	names, err := l.record()
	if errors.Is(err, io.EOF) {
		return nil, badLine(1, "", "is missing; it must name the columns, such as "+strings.Join(taskColumns, ","))
	}
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		if i == 0 {
			name = strings.TrimPrefix(name, "\ufeff") // byte order mark, which some programs write
		}
		name = strings.ToLower(strings.TrimSpace(name))
		switch {
		case !slices.Contains(taskColumns, name):
			return nil, badLine(1, name, unknownColumn(name))
		case slices.Contains(l.columns, name):
			return nil, badLine(1, name, "appears twice")
		}
		l.columns = append(l.columns, name)
	}
	for _, name := range []string{"target_id", "target_type"} {
		if !slices.Contains(l.columns, name) {
			return nil, badLine(1, name, "is missing; the first line must name the columns, such as "+strings.Join(taskColumns, ","))
		}
	}
	return &fairleadv1.NewBatch{}, nil
}

// record returns the next row of the table.
func (l *csvLines) record() ([]string, error) {
	l.meter.allow(maxTaskLine)
	record, err := l.table.Read()
	var syntax *csv.ParseError
	switch {
	case err == nil:
		l.line, _ = l.table.FieldPos(0)
		return record, nil
	case errors.Is(err, io.EOF):
		return nil, err
	case errors.As(err, &syntax):
		return nil, badLine(syntax.StartLine, "", l.misquoted(syntax.Err, len(record)))
	case errors.Is(err, errLongLine):
		return nil, badLine(l.line+1, "", fmt.Sprintf("is longer than %d bytes", maxTaskLine))
	}
	return nil, unreadable(err)
}

// misquoted returns the error message for a malformed row with the given number of fields.
// The most common cause is a comma or a quote in a document.
func (l *csvLines) misquoted(err error, fields int) string {
	found := err.Error()
	if errors.Is(err, csv.ErrFieldCount) {
		found = fmt.Sprintf("wrong number of fields, %d where the first line names %d", fields, l.table.FieldsPerRecord)
	}
	return found + "; quote a field that contains commas or quotes, and double the quotes inside it"
}

func (l *csvLines) Next() (batch.Change, error) {
	record, err := l.record()
	if err != nil {
		return batch.Change{}, err
	}
	var change batch.Change
	for i, value := range record {
		value = strings.Clone(strings.TrimSpace(value)) // the cells share the memory of the row
		if value == "" {
			continue
		}
		switch l.columns[i] {
		case "target_id":
			change.Target.ID = value
		case "target_name":
			change.Target.Name = value
		case "target_type":
			change.Target.Type = value
		case "target_env":
			change.Target.Env = value
		case "before":
			change.Before = json.RawMessage(value)
		case "after":
			change.After = json.RawMessage(value)
		}
	}
	return change, nil
}

func (l *csvLines) Blame(err error) error { return blamed(err, l.line, columnNames) }

var errLongLine = errors.New("a line is too long")

// meter limits the number of bytes read at a time.
type meter struct {
	from *bufio.Reader
	left int
}

func (m *meter) allow(bytes int) { m.left = bytes }

func (m *meter) Read(into []byte) (int, error) {
	if m.left <= 0 {
		return 0, errLongLine
	}
	n, err := m.from.Read(into[:min(len(into), m.left)])
	m.left -= n
	return n, err
}
