package postgres

import (
	"context"
	"errors"

	"github.com/fairlead-io/fairlead"
)

var errUnbuilt = errors.New("not built yet")

func (s *Store) AddToken(context.Context, fairlead.Token) (fairlead.Token, error) {
	return fairlead.Token{}, errUnbuilt
}
func (s *Store) FindToken(context.Context, [32]byte) (fairlead.Token, error) {
	return fairlead.Token{}, errUnbuilt
}
func (s *Store) Tokens(context.Context) ([]fairlead.Token, error)   { return nil, errUnbuilt }
func (s *Store) DeleteToken(context.Context, int64) error           { return errUnbuilt }
func (s *Store) TouchToken(context.Context, int64) error            { return errUnbuilt }
func (s *Store) Audit(context.Context, []fairlead.AuditEntry) error { return errUnbuilt }
func (s *Store) AuditLog(context.Context, fairlead.AuditFilter) ([]fairlead.AuditEntry, error) {
	return nil, errUnbuilt
}
func (s *Store) Secret(context.Context, string) ([]byte, error) { return nil, errUnbuilt }
func (s *Store) EnqueueOnce(context.Context, fairlead.Once, []*fairlead.Job) (bool, error) {
	return false, errUnbuilt
}
func (s *Store) Drain(context.Context, fairlead.NodeID, bool) error { return errUnbuilt }
