import { previousName, programName } from '../root/versions'
import { updateFile } from '../root/update-file'
import { programFolder, unitFolder } from './places'
import { rootRestrictions } from './restrictions'

const program = `${programFolder}/${previousName}/${programName}`

/**
 * Checks an update of the agent, with the version before it. Started by the root half, and when the server starts: if the power was cut
 * during an update, it is undone. It changes the link to the program and, once the new version has reported, the units.
 */
export const updateUnit = `[Unit]
Description=Check the update of the Bailiwick agent
RequiresMountsFor=/var/lib/bailiwick-agent-root /usr/local
Before=bailiwick-agent.service
ConditionPathExists=${updateFile({ state: '/var/lib/bailiwick-agent-root' })}
ConditionPathExists=${program}
StartLimitIntervalSec=0

[Service]
# The agent is restarted while it runs, so nothing may wait for its end.
Type=exec
ExecStart=${program} check-update
Restart=on-failure
RestartSec=10
Environment=BUN_JSC_useJIT=0
StateDirectory=bailiwick-agent-root
StateDirectoryMode=0755
UMask=0022
MemoryMax=256M
TasksMax=64
${rootRestrictions}
CapabilityBoundingSet=CAP_DAC_OVERRIDE CAP_CHOWN CAP_FOWNER
ReadWritePaths=/usr/local/bin ${programFolder} ${unitFolder}
ProtectHome=yes
RestrictAddressFamilies=AF_UNIX

[Install]
WantedBy=multi-user.target
`
