package main

import (
	"go/ast"
	"go/token"
)

// outcomes maps constants to another constant of the same type, by which they are replaced.
type outcomes map[string]string

// collect adds the constants of a file that have a type of their own.
func (o outcomes) collect(file *ast.File) {
	for _, declared := range file.Decls {
		group, ok := declared.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		o.swap(typed(group))
	}
}

// typed returns the constants of a group by their types.
func typed(group *ast.GenDecl) map[string][]string {
	found, last := map[string][]string{}, ""
	for _, spec := range group.Specs {
		value := spec.(*ast.ValueSpec)
		if kind, ok := value.Type.(*ast.Ident); ok {
			last = kind.Name
		} else if value.Type != nil || len(value.Values) > 0 {
			last = "" // untyped, or with a type of another package
		}
		if last == "" || !ast.IsExported(last) {
			continue
		}
		for _, name := range value.Names {
			if name.Name != "_" {
				found[last] = append(found[last], name.Name)
			}
		}
	}
	return found
}

func (o outcomes) swap(groups map[string][]string) {
	for _, names := range groups {
		for i, name := range names {
			if len(names) > 1 {
				o[name] = names[(i+1)%len(names)]
			}
		}
	}
}
