package meta

// The scripts of transactions and their half messages; as in scripts.go, each has
// one caller.
var (
	scriptDropHalves          = loadScript("drop_halves")
	scriptForgetProducers     = loadScript("forget_producers")
	scriptHoldTransactions    = loadScript("hold_transactions")
	scriptPlaceHalves         = loadScript("place_halves")
	scriptPutTransaction      = loadScript("put_transaction")
	scriptRegisterProducers   = loadScript("register_producers")
	scriptRestoreHalves       = loadScript("restore_halves")
	scriptRestoreTransactions = loadScript("restore_transactions")
)
