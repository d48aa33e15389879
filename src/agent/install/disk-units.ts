import { programLink } from './places'
import { rootRestrictions } from './restrictions'

/**
 * Reads the SMART data of the disks as root, without any input. It can send commands to devices, and write only to the folder in which
 * the agent finds the result.
 */
const service = `[Unit]
Description=Read the SMART data of disks for the Bailiwick agent
ConditionVirtualization=!container

[Service]
Type=oneshot
ExecStart=${programLink} disks
Environment=BUN_JSC_useJIT=0
StateDirectory=bailiwick-agent-root
StateDirectoryMode=0755
UMask=0022
TimeoutStartSec=1h
MemoryMax=256M
TasksMax=64
${rootRestrictions}
CapabilityBoundingSet=CAP_SYS_RAWIO CAP_SYS_ADMIN CAP_DAC_OVERRIDE
ProtectHome=yes
PrivateNetwork=yes
`

/** Starts with the agent, which needs no privileges for that. */
const timer = `[Unit]
Description=Every six hours, read the SMART data of disks for the Bailiwick agent

[Timer]
OnActiveSec=30
OnUnitInactiveSec=6h
RandomizedDelaySec=60
AccuracySec=60

[Install]
WantedBy=bailiwick-agent.service
`

export const diskUnits: Record<string, string> = {
  'bailiwick-agent-disks.service': service,
  'bailiwick-agent-disks.timer': timer,
}
