package main

import "slices"

// A bug is a fault that is planted on purpose, to show that a method finds it. It is a
// replacement in the source, which the compiler reads by way of an overlay: no broken code is
// ever part of the program.
type bug struct {
	Name   string
	Breaks string // the guarantee that it breaks

	Database string // where it is planted: postgres, mysql or sqlite
	File     string // the file with the bug
	Was, Is  string // the text that is replaced, which the file has once, and its replacement

	Pairs []string // parts of the names of pairs that may find it
}

// bugs returns the catalogue of planted bugs.
func bugs() []bug { return slices.Concat(postgresBugs(), mysqlBugs(), sqliteBugs(), sharedBugs()) }
