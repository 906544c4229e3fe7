package cli

import (
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Bounds of a YAML file. A few lines of one can stand for gigabytes, because an alias
// repeats what it names, and deep nesting uses up the stack of the parser.
const (
	maxYAMLBytes  = 8 << 20
	maxYAMLDepth  = 100
	maxYAMLIndent = 500     // columns before an entry: nesting by indentation is at most as deep
	maxYAMLCopies = 1 << 20 // bytes that aliases may repeat, all of them together
	nodeBytes     = 16      // what an element counts for beside its text
)

// DecodeYAML reads the only document of a YAML file. Its errors name the file, and
// repeat no value of it.
func DecodeYAML(file string, raw []byte, into any, options ...yaml.DecodeOption) error {
	if err := checkYAML(file, raw); err != nil {
		return err
	}
	if err := yaml.UnmarshalWithOptions(raw, into, options...); err != nil {
		return YAMLMistake(file, err)
	}
	return nil
}

// checkYAML refuses a YAML file that is too large, too deep, or says too much by its
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

// tooDeep is the line at which a file is nested too deeply; zero if it is not.
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

// measure counts how much a file stands for.
type measure struct {
	anchors map[string]int // how much each stands for
	copied  int            // how much aliases repeat; it stops soon after the bound
}

// size is how much a node stands for, with what its aliases repeat.
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
