import { existsSync } from 'node:fs'
import type { AgentPermission } from '../wire/agent-permissions'

/** Whether systemd runs the services of this server. */
export const hasSystemd = (): boolean => existsSync('/run/systemd/system')

/** What the agent can do of what the owner of the server allows. Only systemd can start the part of it that runs as root. */
export const possiblePermissions = (allow: readonly AgentPermission[], canRunAsRoot: boolean = hasSystemd()): AgentPermission[] =>
  allow.filter(one => canRunAsRoot || one === 'collect' || one === 'wake')
