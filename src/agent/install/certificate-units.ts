import { programLink } from './places'
import { rootRestrictions } from './restrictions'

const wanted = '/run/bailiwick-agent/certificates-wanted'

/** Starts when the agent wants the files to be read, every hour. The agent can’t pass anything else. */
const path = `[Unit]
Description=The Bailiwick agent wants files with certificates to be read

[Path]
PathExists=${wanted}

[Install]
WantedBy=multi-user.target
`

/**
 * Reads the files with certificates, and which programs have sockets open, as root, without any input. It can read everything, and write only to the folder in which the agent
 * finds the result, which contains no private keys.
 */
const service = `[Unit]
Description=Read the files with certificates for the Bailiwick agent
StartLimitIntervalSec=60
StartLimitBurst=300

[Service]
Type=oneshot
# Not recursive: the agent can put anything there.
ExecStartPre=+/bin/rm -f ${wanted}
ExecStart=${programLink} read-certificates
Environment=BUN_JSC_useJIT=0
StateDirectory=bailiwick-agent-root
StateDirectoryMode=0755
UMask=0022
TimeoutStartSec=300
MemoryMax=256M
TasksMax=64
Nice=10
${rootRestrictions}
CapabilityBoundingSet=CAP_DAC_READ_SEARCH CAP_SYS_PTRACE
ProtectHome=read-only
RestrictAddressFamilies=AF_UNIX
`

export const certificateUnits: Record<string, string> = {
  'bailiwick-agent-certificates.path': path,
  'bailiwick-agent-certificates.service': service,
}
