package plugin

// bundle is one executable and how to start it.
type bundle struct {
	name     string
	builtin  bool
	path     string
	args     []string
	env      []string // names of variables that it sees besides those all see
	sleeps   bool     // its process ends while nothing calls it
	checksum []byte   // third parties: of the file that was verified last
	remote   Remote   // has its instances elsewhere: there is no process
	copyOf   string   // third parties: the file whose name it has, with an extension
}
