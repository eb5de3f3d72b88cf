package sdk

// Version is the semantic version of this SDK. Within a major version the
// exported API only grows.
const Version = "2.0.0"
