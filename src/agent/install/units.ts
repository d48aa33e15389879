import { agentUser, programLink } from './places'

/**
 * The service of systemd that runs the agent. It can read what any user can read, and write only to its own folders. Memory that is
 * writable and executable is forbidden, which requires that the just-in-time compiler is off.
 */
const service = `[Unit]
Description=Bailiwick server agent
Wants=network-online.target
After=network-online.target dbus.service

[Service]
User=${agentUser}
ExecStart=${programLink} run
Environment=BUN_JSC_useJIT=0
Restart=always
RestartSec=5
RestartPreventExitStatus=78
TimeoutStopSec=20
StateDirectory=bailiwick-agent
StateDirectoryMode=0700
RuntimeDirectory=bailiwick-agent
LogsDirectory=bailiwick-agent
UMask=0077
MemoryMax=128M
TasksMax=64
NoNewPrivileges=yes
CapabilityBoundingSet=
ProtectSystem=strict
ProtectHome=read-only
PrivateTmp=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectControlGroups=yes
RestrictNamespaces=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
LockPersonality=yes
MemoryDenyWriteExecute=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service

[Install]
WantedBy=multi-user.target
`

/** Units of systemd by name. */
export const units: Record<string, string> = { 'bailiwick-agent.service': service }
