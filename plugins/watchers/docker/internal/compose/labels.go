package compose

// The labels that Docker Compose gives to containers.
const (
	LabelProject    = "com.docker.compose.project"
	LabelService    = "com.docker.compose.service"
	LabelNumber     = "com.docker.compose.container-number"
	LabelHash       = "com.docker.compose.config-hash"
	LabelOneOff     = "com.docker.compose.oneoff"
	labelFiles      = "com.docker.compose.project.config_files"
	labelWorkingDir = "com.docker.compose.project.working_dir"
	labelEnvFiles   = "com.docker.compose.project.environment_file"
)

// The labels that name the compose file of a container: the first that is there counts.
const (
	LabelFile    = "dogwatch.compose.file"
	LabelFileWUD = "wud.compose.file"
)
