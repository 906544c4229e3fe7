package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/goccy/go-yaml"
	"google.golang.org/protobuf/proto"

	"github.com/fairlead-io/fairlead/internal/screen"
	"github.com/fairlead-io/fairlead/internal/wire"
)

// printer writes responses in the requested format.
type printer struct {
	*screen.Screen
	format string
	many   bool // a document was written: YAML requires a separator
}

func newPrinter(w io.Writer, format string) (*printer, error) {
	switch format {
	case "table", "json", "yaml":
		return &printer{Screen: screen.New(w, os.Getenv), format: format}, nil
	}
	return nil, Usagef("--output %q: use table, json or yaml", format)
}

// print writes a message in the requested format, or calls table for table output.
func (p *printer) print(message proto.Message, table func() error) error {
	if p.format == "table" {
		return table()
	}
	body, err := wire.Marshal(message)
	if err != nil {
		return err
	}
	return p.document(body)
}

// printTable writes a message or, for table output, a table.
func (p *printer) printTable(message proto.Message, table *screen.Table) error {
	return p.print(message, table.Write)
}

// say writes a message or, for table output, a sentence.
func (p *printer) say(message proto.Message, format string, args ...any) error {
	return p.print(message, func() error {
		_, err := fmt.Fprintln(p.Out, screen.Clean(fmt.Sprintf(format, args...)))
		return err
	})
}

// document writes JSON, with added line breaks on a terminal, or converts it to YAML.
func (p *printer) document(body []byte) (err error) {
	switch {
	case p.format == "yaml":
		if body, err = yaml.JSONToYAML(body); err != nil {
			return fmt.Errorf("write YAML: %w", err)
		}
		if p.many {
			body = append([]byte("---\n"), body...)
		}
		p.many = true
	case p.Terminal:
		var lines bytes.Buffer
		if err := json.Indent(&lines, body, "", "  "); err != nil {
			return err
		}
		body = append(lines.Bytes(), '\n')
	default:
		body = append(body, '\n')
	}
	_, err = p.Out.Write(body)
	return err
}
