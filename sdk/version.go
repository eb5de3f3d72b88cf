package sdk

// Version is the semantic version of this SDK: of what the packages below sdk
// export, but for sdk/proto. A plugin that compiles with a version compiles with
// every later one of the same major version, and does the same.
//
// It is not the version of the module that holds the SDK, which is that of a
// release of Dogwatch. A plugin reports Version to the host: the host says so where the plugin is
// newer than itself, or of an older major version. It runs both, because they
// speak the same plugin protocol.
const Version = "2.1.0"
