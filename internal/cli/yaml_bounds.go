package cli

import (
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Limits of a YAML file. A few lines can expand to gigabytes, because an alias repeats its
// target, and deep nesting exhausts the parser's stack.
const (
	maxYAMLBytes  = 8 << 20
	maxYAMLDepth  = 100
	maxYAMLIndent = 500     // columns before an entry, which limits nesting by indentation
	maxYAMLCopies = 1 << 20 // total bytes that aliases may repeat
	nodeBytes     = 16      // size counted for an element in addition to its text
)

// DecodeYAML decodes a YAML file that contains a single document. Its errors contain the
// file's name, but none of the file's values.
func DecodeYAML(file string, raw []byte, into any, options ...yaml.DecodeOption) error {
	if err := checkYAML(file, raw); err != nil {
		return err
	}
	if err := yaml.UnmarshalWithOptions(raw, into, options...); err != nil {
		return YAMLMistake(file, err)
	}
	return nil
}

// checkYAML rejects a YAML file that is too large, too deep, or expands too much through
// aliases.
func checkYAML(file string, raw []byte) error {
	if len(raw) > maxYAMLBytes {
		return fmt.Errorf("%s has %d bytes; the maximum is %d", file, len(raw), maxYAMLBytes)
	}
	tokens := lexer.Tokenize(string(raw))
	if line := tooDeep(tokens); line > 0 {
		return fmt.Errorf("%s, line %d: nested too deeply; the maximum is %d levels", file, line, maxYAMLDepth)
	}
	parsed, err := parser.Parse(tokens, 0)
	if err != nil {
		return YAMLMistake(file, err)
	}
	m := measure{anchors: map[string]int{}}
	for _, document := range parsed.Docs {
		m.size(document.Body)
	}
	if m.copied > maxYAMLCopies {
		return fmt.Errorf("%s: aliases (*name) expand to more than %d bytes; write the values out instead", file, maxYAMLCopies)
	}
	return nil
}

// tooDeep returns the line at which a file is nested too deeply, or 0.
func tooDeep(tokens token.Tokens) int {
	flow, prefixes, line := 0, 0, 0
	for _, t := range tokens {
		begins := t.Position.Line != line
		line = t.Position.Line
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType, token.MappingKeyType:
			begins = true
		case token.TagType, token.AnchorType:
			prefixes++
		default:
			prefixes = 0
		}
		if flow > maxYAMLDepth || prefixes > maxYAMLDepth || begins && flow == 0 && t.Position.Column > maxYAMLIndent {
			return max(1, line)
		}
	}
	return 0
}

// measure computes the expanded size of a file.
type measure struct {
	anchors map[string]int // expanded size of each anchor
	copied  int            // size repeated by aliases; counting stops soon after the limit
}

// size returns the expanded size of a node, including the targets of its aliases.
func (m *measure) size(node ast.Node) int {
	if node == nil || m.copied > maxYAMLCopies {
		return 0
	}
	total := nodeBytes
	switch n := node.(type) {
	case *ast.MappingNode:
		for _, value := range n.Values {
			total += m.size(value)
		}
	case *ast.MappingValueNode:
		total += m.size(n.Key) + m.size(n.Value)
	case *ast.MappingKeyNode:
		total += m.size(n.Value)
	case *ast.SequenceNode:
		for _, value := range n.Values {
			total += m.size(value)
		}
	case *ast.TagNode:
		total += m.size(n.Value)
	case *ast.AnchorNode:
		size := m.size(n.Value)
		m.anchors[n.Name.GetToken().Value] = size
		total += size
	case *ast.AliasNode:
		size := m.anchors[n.Value.GetToken().Value]
		m.copied += size
		total += size
	default:
		if at := node.GetToken(); at != nil {
			total += len(at.Value)
		}
	}
	return total
}
