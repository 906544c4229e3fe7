package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// source is a Go file in which places are found, and which is rewritten so that each of
// them can be mutated. Line numbers stay the same.
type source struct {
	name   string // path in the repository
	text   string
	files  *token.FileSet
	parsed *ast.File
	area   *area
	kinds  []string // kinds of mutations; empty = all

	places []*place
	wraps  []wrap
	number func() int
	swaps  outcomes
	refuse map[int]bool // numbers of places that do not compile

	function string
	own      bool // whether the file is in the package that declares the outcomes
}

// wrap is text to insert around a part of the source.
type wrap struct {
	span
	before, after string
	number        int
}

func readSource(name, text string) (*source, error) {
	s := &source{name: name, text: text, files: token.NewFileSet()}
	var err error
	s.parsed, err = parser.ParseFile(s.files, name, text, parser.SkipObjectResolution)
	return s, err
}

// find finds the places of all functions.
func (s *source) find() {
	for _, declared := range s.parsed.Decls {
		f, ok := declared.(*ast.FuncDecl)
		if !ok || f.Body == nil || f.Name.Name == "String" || f.Name.Name == "Error" {
			continue
		}
		s.function = receiver(f) + f.Name.Name
		s.block(f.Body)
	}
}

func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	kind := f.Recv.List[0].Type
	if star, ok := kind.(*ast.StarExpr); ok {
		kind = star.X
	}
	if generic, ok := kind.(*ast.IndexExpr); ok {
		kind = generic.X
	}
	if name, ok := kind.(*ast.Ident); ok {
		return name.Name + "."
	}
	return ""
}

func (s *source) raw(n ast.Node) string {
	at := s.span(n)
	return s.text[at.from:at.to]
}

func (s *source) span(n ast.Node) span {
	return span{s.files.Position(n.Pos()).Offset, s.files.Position(n.End()).Offset}
}

// add adds a place. In before and after, # stands for its number.
func (s *source) add(kind string, n ast.Node, before, after string) {
	if s.kinds != nil && !slices.Contains(s.kinds, kind) {
		return
	}
	if strings.Contains(before+after, "\n") || strings.Contains(before+after, "//") {
		return // line numbers would change
	}
	p := &place{
		number: s.number(), area: s.area, file: s.name, line: s.files.Position(n.Pos()).Line,
		in: s.function, kind: kind, text: shortened(flat(s.raw(n))), node: n,
	}
	if s.refuse[p.number] {
		return
	}
	s.places = append(s.places, p)
	number := fmt.Sprint(p.number)
	s.wraps = append(s.wraps, wrap{s.span(n), strings.ReplaceAll(before, "#", number), strings.ReplaceAll(after, "#", number), p.number})
}

func shortened(text string) string {
	const most = 90
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// onlyError matches conditions that check whether an operation failed: error handling is
// tested by causing errors, not by skipping the check.
var onlyError = regexp.MustCompile(`^\w*[eE]rr (?:!=|==) nil$`)

// block finds the places in a function body.
func (s *source) block(body *ast.BlockStmt) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			if !onlyError.MatchString(s.raw(n.Cond)) {
				s.add("branch", n.Cond, "(", ") && !active.On(#)")
			}
		case *ast.SwitchStmt:
			s.cases(n)
		case *ast.BinaryExpr:
			s.binary(n)
		case *ast.BlockStmt:
			s.statements(n.List)
		case *ast.CaseClause:
			s.statements(n.Body)
		case *ast.CommClause:
			s.statements(n.Body)
		case *ast.ReturnStmt:
			s.outcomes(n.Results)
		case *ast.AssignStmt:
			s.outcomes(n.Rhs)
		case *ast.KeyValueExpr:
			s.outcomes([]ast.Expr{n.Value})
		case *ast.GenDecl:
			return n.Tok != token.CONST
		}
		return true
	})
}

// cases finds the branches of a switch without a tag.
func (s *source) cases(n *ast.SwitchStmt) {
	if n.Tag != nil {
		return
	}
	for _, clause := range n.Body.List {
		for _, condition := range clause.(*ast.CaseClause).List {
			if !onlyError.MatchString(s.raw(condition)) {
				s.add("branch", condition, "(", ") && !active.On(#)")
			}
		}
	}
}

// neighbours maps comparisons to those that differ in one value.
var neighbours = map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">"}

func (s *source) binary(n *ast.BinaryExpr) {
	switch n.Op {
	case token.LAND, token.LOR:
		for _, operand := range []ast.Expr{n.X, n.Y} {
			if inner, ok := operand.(*ast.BinaryExpr); ok && (inner.Op == token.LAND || inner.Op == token.LOR) {
				continue
			}
			if n.Op == token.LAND {
				s.add("operand", operand, "((", ") || active.On(#))")
			} else {
				s.add("operand", operand, "((", ") && !active.On(#))")
			}
		}
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		s.add("bound", n, fmt.Sprintf("(active.On(#) && %s %s %s || !active.On(#) && ", s.raw(n.X), neighbours[n.Op], s.raw(n.Y)), ")")
	case token.ADD, token.SUB:
		if literal, ok := n.Y.(*ast.BasicLit); ok && literal.Value == "1" && !calls(n.X) {
			s.add("count", n, "active.Pick(#, ", ", "+s.raw(n.X)+")")
		}
	}
}

// calls reports whether an expression may have an effect.
func calls(n ast.Expr) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			name, plain := call.Fun.(*ast.Ident)
			found = found || !plain || name.Name != "len" && name.Name != "int64" && name.Name != "int"
		}
		return true
	})
	return found
}

// needless matches calls whose absence changes nothing that a test could see, or makes it
// hang.
var needless = regexp.MustCompile(`(?:^|\.)(?:R?Lock|R?Unlock|Close|Stop|Done|Add|Wait|Helper|panic|close|cancel|stop|Debug|Info|Warn|Error|Log|LogAttrs|DebugContext|InfoContext|WarnContext|ErrorContext|Go|Reset|Grow|Sort|SortFunc|Flush|WriteString|WriteByte|Fprint\w*|Print\w*|recover)$`)

// statements finds statements that may be left out.
func (s *source) statements(list []ast.Stmt) {
	for _, statement := range list {
		switch n := statement.(type) {
		case *ast.ExprStmt:
			if call, ok := n.X.(*ast.CallExpr); ok && !needless.MatchString(s.raw(call.Fun)) {
				s.forget("call", n)
			}
		case *ast.DeferStmt:
			if _, literal := n.Call.Fun.(*ast.FuncLit); !literal && !needless.MatchString(s.raw(n.Call.Fun)) {
				s.forget("call", n)
			}
		case *ast.IncDecStmt:
			s.forget("count", n)
		case *ast.AssignStmt:
			_, field := n.Lhs[0].(*ast.SelectorExpr)
			_, element := n.Lhs[0].(*ast.IndexExpr)
			if n.Tok != token.DEFINE && (n.Tok != token.ASSIGN || field || element) && len(n.Lhs) == 1 {
				s.forget("assignment", n)
			}
		}
	}
}

func (s *source) forget(kind string, n ast.Stmt) { s.add(kind, n, "if !active.On(#) { ", " }") }

// outcomes finds outcomes that can be replaced by others.
func (s *source) outcomes(values []ast.Expr) {
	for _, value := range values {
		switch n := value.(type) {
		case *ast.Ident:
			if instead, ok := s.swaps[n.Name]; ok && s.own {
				s.add("outcome", n, "active.Pick(#, ", ", "+instead+")")
			}
		case *ast.SelectorExpr:
			from, plain := n.X.(*ast.Ident)
			if instead, ok := s.swaps[n.Sel.Name]; ok && plain && from.Name == "fairlead" {
				s.add("outcome", n, "active.Pick(#, ", ", fairlead."+instead+")")
			}
		}
	}
}
