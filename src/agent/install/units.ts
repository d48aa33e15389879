import { installFolders } from '../certificates/install-profile'
import { runtimeAssignments } from '../small-runtime'
import { confirmedFile, tableFile } from '../root/firewall'
import { certificateUnits } from './certificate-units'
import { diskUnits } from './disk-units'
import { agentUser, programFolder, programLink } from './places'
import { restrictions, rootRestrictions } from './restrictions'
import { updateUnit } from './update-unit'

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
Environment=${runtimeAssignments}
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
# Counting package updates can exceed it, which must not end the agent.
OOMPolicy=continue
TasksMax=64
${restrictions}
# ProtectKernelTunables and ProtectControlGroups would mount another /proc (MountAPIVFS in systemd.exec(5)), without the files that
# LXC mounts over those of the host, such as its memory and the ID of its boot.
ReadOnlyPaths=/proc /sys
InaccessiblePaths=-/proc/kallsyms -/proc/kcore
CapabilityBoundingSet=
ProtectHome=read-only
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK

[Install]
WantedBy=multi-user.target
`

/** Starts the root half when the agent hands over a command. It takes no memory in between. */
const rootPath = `[Unit]
Description=Commands of the Bailiwick hub that need root

[Path]
DirectoryNotEmpty=/run/bailiwick-agent/orders

[Install]
WantedBy=multi-user.target
`

/**
 * The root half of the agent. Most of what it changes is done by systemd and nft, which it asks to. It writes certificates itself, where
 * install profiles can let it.
 */
const rootService = `[Unit]
Description=Run a command of the Bailiwick hub as root
ConditionDirectoryNotEmpty=|/run/bailiwick-agent/orders
ConditionPathExistsGlob=|/var/lib/bailiwick-agent-root/certificates/*/previous.json
# By default, systemd would refuse the sixth command in ten seconds, and all later ones.
StartLimitIntervalSec=10
StartLimitBurst=100

[Service]
Type=oneshot
ExecStart=${programLink} root
Environment=BUN_JSC_useJIT=0
StateDirectory=bailiwick-agent-root
StateDirectoryMode=0755
RuntimeDirectory=bailiwick-agent-root
RuntimeDirectoryMode=0755
RuntimeDirectoryPreserve=yes
LogsDirectory=bailiwick-agent-root
UMask=0022
MemoryMax=256M
TasksMax=64
${rootRestrictions}
CapabilityBoundingSet=CAP_NET_ADMIN CAP_DAC_OVERRIDE CAP_CHOWN CAP_FOWNER
ReadWritePaths=-/run/bailiwick-agent -${programFolder} ${installFolders.map(one => `-${one}`).join(' ')}
ProtectHome=yes
RestrictAddressFamilies=AF_UNIX AF_NETLINK
`

/**
 * Starts the root half once when the server has started, which restores the files of a certificate whose installation was interrupted. A
 * timer, because units may wait for the targets that a service of the start belongs to.
 */
const rootTimer = `[Unit]
Description=After a power failure, restore certificates that the Bailiwick agent was replacing

[Timer]
OnBootSec=20
AccuracySec=1

[Install]
WantedBy=timers.target
`

const confirmed = confirmedFile({ state: '/var/lib/bailiwick-agent-root' })

/** Loads the confirmed firewall before the network is up, without the agent. After the rules of the system, which may remove all others. */
const firewallService = `[Unit]
Description=Firewall set by the Bailiwick hub
DefaultDependencies=no
RequiresMountsFor=/var/lib/bailiwick-agent-root
After=nftables.service
Before=network-pre.target shutdown.target
Wants=network-pre.target
Conflicts=shutdown.target
ConditionPathExists=${confirmed}

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c 'nft -f ${confirmed}'

[Install]
WantedBy=sysinit.target
`

const table = tableFile({ runtime: '/run/bailiwick-agent-root' })

/** Lists what the firewall has counted, for the agent. The file is empty if something else removed the table. */
const watchService = `[Unit]
Description=Counters of the firewall set by the Bailiwick hub
ConditionPathExists=${confirmed}

[Service]
Type=oneshot
ExecStart=/bin/sh -c 'nft --json --terse list table inet bailiwick >${table}.new 2>/dev/null; mv ${table}.new ${table}'
RuntimeDirectory=bailiwick-agent-root
RuntimeDirectoryMode=0755
RuntimeDirectoryPreserve=yes
UMask=0022
NoNewPrivileges=yes
CapabilityBoundingSet=CAP_NET_ADMIN
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
RestrictAddressFamilies=AF_UNIX AF_NETLINK
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
`

const watchTimer = `[Unit]
Description=Each minute, list what the firewall has counted

[Timer]
OnBootSec=30
OnUnitActiveSec=60
AccuracySec=5

[Install]
WantedBy=timers.target
`

/** Units of systemd by name. */
export const units: Record<string, string> = {
  'bailiwick-agent.service': service,
  'bailiwick-agent-root.path': rootPath,
  'bailiwick-agent-root.service': rootService,
  'bailiwick-agent-root.timer': rootTimer,
  'bailiwick-agent-firewall.service': firewallService,
  'bailiwick-agent-update.service': updateUnit,
  ...diskUnits,
  ...certificateUnits,
  'bailiwick-agent-firewall-watch.service': watchService,
  'bailiwick-agent-firewall-watch.timer': watchTimer,
}

/** Units that start with the system. The others are started by them. */
export const enabledUnits = Object.keys(units).filter(name => units[name]!.includes('[Install]'))
