package sqlstore

// Features implements the methods that are identical in all stores. Each store embeds it.
type Features struct {
	operatorStore
	tokenStore
	auditStore
	secretStore
	confidentialStore
	pauseStore
	calendarStore
	tickStore
	alertStore
	bulkStore
	batchStore
	conductStore
	sweepStore
	steerStore
	sweepLogStore
	tenantStore
	usageStore
	explainStore
	holdStore
	sampleStore
	historyStore
	whatIfStore
	retentionStore
	idMarkStore
}

// FeatureStatements holds the SQL statements of Features, and other statements that have the
// same name in every store. Each store embeds it in its own statements.
type FeatureStatements struct {
	ClockStatements
	OnceStatements
	TokenStatements
	AuditStatements
	SecretStatements
	ConfidentialStatements
	PauseStatements
	CalendarStatements
	ScheduleStatements
	AlertStatements
	BulkStatements
	BatchStatements
	ConductStatements
	SweepStatements
	SteerStatements
	SweepLogStatements
	TenantStatements
	UsageStatements
	FairStatements
	HoldStatements
	SampleStatements
	RetentionStatements
	IDMarkStatements
	WhatIfStatements
}

// FeatureDatabase provides the store operations that Features needs.
type FeatureDatabase interface {
	Scheduling
	LimitChanges
	Acting
	operating
	BatchDialect
	ConductDialect
	SweepDialect
	usageSource
	explainSource
	holdSource
	historySource
	retentionSource
}

// NewFeatures returns the features of a store. The statements must already be loaded.
func NewFeatures(database FeatureDatabase, statements *FeatureStatements, query *Query) Features {
	clock, pauses := &statements.ClockStatements, &statements.PauseStatements
	return Features{
		operatorStore:     newOperatorStore(database),
		tokenStore:        tokenStore{db: database, sql: &statements.TokenStatements},
		auditStore:        auditStore{db: database, sql: &statements.AuditStatements, query: query},
		secretStore:       secretStore{db: database, sql: &statements.SecretStatements},
		confidentialStore: confidentialStore{db: database, sql: &statements.ConfidentialStatements, known: &knownConfidential{}},
		pauseStore:        pauseStore{db: database, limits: database, sql: pauses, tenants: &statements.TenantStatements},
		calendarStore:     calendarStore{db: database, sql: &statements.CalendarStatements},
		tickStore:         tickStore{db: database, sql: &statements.ScheduleStatements, keep: &tickMemory{}},
		alertStore:        alertStore{db: database, acting: database, of: database, sql: &statements.AlertStatements},
		bulkStore:         bulkStore{db: database, acting: database, sql: &statements.BulkStatements, audit: &statements.AuditStatements, once: &statements.OnceStatements},
		batchStore:        batchStore{db: database, dialect: database, sql: &statements.BatchStatements, marks: &statements.IDMarkStatements},
		conductStore:      conductStore{db: database, acting: database, dialect: database, batches: &statements.BatchStatements, sql: &statements.ConductStatements},
		sweepStore:        sweepStore{db: database, dialect: database, sql: &statements.SweepStatements, steered: &statements.SteerStatements},
		steerStore:        steerStore{db: database, acting: database, sql: &statements.SteerStatements},
		sweepLogStore:     sweepLogStore{db: database, sql: &statements.SweepLogStatements},
		tenantStore:       tenantStore{db: database, limits: database, sql: &statements.TenantStatements, clock: clock, pauses: pauses},
		usageStore:        usageStore{db: database, of: database, sql: &statements.UsageStatements, clock: clock},
		explainStore:      explainStore{db: database, of: database, clock: clock, usage: &statements.UsageStatements},
		holdStore:         holdStore{db: database, of: database, sql: &statements.HoldStatements, clock: clock},
		sampleStore:       sampleStore{db: database, sql: &statements.SampleStatements},
		historyStore:      historyStore{db: database, of: database, sql: &statements.HoldStatements},
		whatIfStore:       whatIfStore{db: database, of: database, sql: &statements.WhatIfStatements, clock: clock, tenants: &statements.TenantStatements, pauses: pauses},
		idMarkStore:       idMarkStore{db: database, sql: &statements.IDMarkStatements},

		retentionStore: retentionStore{
			db: database, of: database, sql: &statements.RetentionStatements, clock: clock, walks: &retentionWalks{of: map[int]*retentionWalk{}},
		},
	}
}
