package sqlstore

// Features are what all stores do alike. A store embeds them: their methods are its own.
type Features struct {
	tokenStore
	auditStore
	secretStore
	pauseStore
	calendarStore
	batchStore
	sweepStore
	steerStore
	sweepLogStore
}

// FeatureStatements are the statements of Features. A store embeds them among its own.
type FeatureStatements struct {
	TokenStatements
	AuditStatements
	SecretStatements
	PauseStatements
	CalendarStatements
	BatchStatements
	SweepStatements
	SteerStatements
	SweepLogStatements
}

// FeatureDatabase is what Features need of a store.
type FeatureDatabase interface {
	Database
	RuleChanges
	Acting
	BatchDialect
	SweepDialect
}

// NewFeatures makes the features of a store. Its statements are loaded by then.
func NewFeatures(database FeatureDatabase, statements *FeatureStatements, query *Query) Features {
	return Features{
		tokenStore:    tokenStore{db: database, sql: &statements.TokenStatements},
		auditStore:    auditStore{db: database, sql: &statements.AuditStatements, query: query},
		secretStore:   secretStore{db: database, sql: &statements.SecretStatements},
		pauseStore:    pauseStore{db: database, rules: database, sql: &statements.PauseStatements},
		calendarStore: calendarStore{db: database, sql: &statements.CalendarStatements},
		batchStore:    batchStore{db: database, dialect: database, sql: &statements.BatchStatements},
		sweepStore:    sweepStore{db: database, dialect: database, sql: &statements.SweepStatements, steered: &statements.SteerStatements},
		steerStore:    steerStore{db: database, acting: database, sql: &statements.SteerStatements},
		sweepLogStore: sweepLogStore{db: database, sql: &statements.SweepLogStatements},
	}
}
